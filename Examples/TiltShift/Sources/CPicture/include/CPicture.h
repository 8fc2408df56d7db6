// The functions of libvips that the program needs, in a form that Swift can call: those of libvips are variadic.
//
// A picture is immutable, may be used by several threads at once, and is released with picture_release. A failed call
// returns the kind of failure. The messages of libvips are not used, because all threads share one buffer for them.
#ifndef CPICTURE_H
#define CPICTURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct _VipsImage Picture;

typedef enum {
    PICTURE_OK = 0,
    PICTURE_UNKNOWN_FORMAT, // not JPEG, PNG, WebP or TIFF
    PICTURE_DAMAGED,        // truncated, or not of the format that its first bytes indicate
    PICTURE_TOO_LARGE,      // more pixels than the limit
    PICTURE_UNUSUAL,        // an unsupported colour space
    PICTURE_FAILED,         // any other failure, such as a lack of memory
} PictureStatus;

typedef enum { PICTURE_JPEG, PICTURE_PNG, PICTURE_WEBP } PictureEncoding;

/// Has to be called once, before any other function. Each later call uses the calling thread only, so callers may make
/// several calls in parallel.
bool picture_start(const char *program);

/// Reads the head of a picture, and plans its decoding: upright, in grey or RGB, with or without alpha. Copies the
/// bytes. Sets `width` and `height` even if the picture is too large.
PictureStatus picture_plan(
    const void *bytes, size_t count, double pixel_limit, Picture **plan, int *width, int *height);

/// Plans the effect. Each mask has a byte for each row: the share of the half-blurred picture that replaces the sharp
/// one, and the share of the fully blurred picture that replaces that mixture. Copies the masks, and retains the
/// picture.
PictureStatus picture_plan_tilt_shift(
    Picture *sharp, const uint8_t *half_mask, const uint8_t *full_mask, double sigma, double saturation,
    Picture **plan);

/// Computes the pixels of a plan. Fails at once if picture_stop is called for the plan, before or during this call.
PictureStatus picture_render(Picture *plan, Picture **rendered);

/// Stops the rendering of a plan. May be called on any thread until the plan is released.
void picture_stop(Picture *plan);

/// Encodes a picture with its colour profile and with `software` in its Software field. Release the bytes with
/// picture_free.
PictureStatus picture_encode(
    Picture *picture, PictureEncoding encoding, int quality, const char *software, void **bytes, size_t *count);

/// Makes a JPEG in sRGB without metadata that fits into a square of `side` pixels.
PictureStatus picture_thumbnail(Picture *picture, int side, void **bytes, size_t *count);

/// Makes the same JPEG of an encoded picture, which is decoded at a reduced size where its format allows that.
PictureStatus picture_thumbnail_of_bytes(const void *source, size_t length, int side, void **bytes, size_t *count);

/// Returns the Software field of a picture file, or NULL. Release it with picture_free.
char *picture_software(const char *path);

/// Returns the samples of a picture, row by row. Release them with picture_free.
PictureStatus picture_samples(Picture *picture, void **bytes, size_t *count);

int picture_width(Picture *picture);
int picture_height(Picture *picture);
void picture_release(Picture *picture);
void picture_free(void *memory);

#endif
