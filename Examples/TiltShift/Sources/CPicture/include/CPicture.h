// What the program needs of libvips, as functions that Swift can call: those of libvips take any number of arguments.
//
// A picture never changes once it was made, may be used by several threads at once, and is released with picture_release.
// A call that fails says how; libvips' own texts are of no use here, because all threads share one place for them.
#ifndef CPICTURE_H
#define CPICTURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct _VipsImage Picture;

typedef enum {
    PICTURE_OK = 0,
    PICTURE_UNKNOWN_FORMAT, // not JPEG, PNG, WebP or TIFF
    PICTURE_DAMAGED,        // cut short, or not what its first bytes promise
    PICTURE_TOO_LARGE,      // more pixels than the limit
    PICTURE_UNUSUAL,        // colours that cannot be worked with
    PICTURE_FAILED,         // anything else; out of memory, say
} PictureStatus;

typedef enum { PICTURE_JPEG, PICTURE_PNG, PICTURE_WEBP } PictureEncoding;

/// Has to be called once, before anything else. One thread for each call: who calls several at a time has them in parallel.
bool picture_start(const char *program);

/// Reads the head of a picture, and plans how to have its pixels: upright, in grey or RGB, with or without alpha.
/// Copies the bytes. `width` and `height` are known even if it is too large.
PictureStatus picture_plan(const void *bytes, size_t count, double pixel_limit, Picture **plan, int *width, int *height);

/// Plans the effect. Each of the two masks has a byte for each row: how much of the half blurred picture replaces the sharp
/// one there, and of the fully blurred one what that has made. Copies the masks, keeps the picture.
PictureStatus picture_plan_tilt_shift(
    Picture *sharp, const uint8_t *half_mask, const uint8_t *full_mask, double sigma, double saturation, Picture **plan);

/// Works out the pixels of a plan. Fails at once if picture_stop was called for the plan, also while this runs.
PictureStatus picture_render(Picture *plan, Picture **rendered);

/// May be called on any thread as long as the plan is there.
void picture_stop(Picture *plan);

/// Encodes a picture with its colour profile and this in its Software field. Release the bytes with picture_free.
PictureStatus picture_encode(
    Picture *picture, PictureEncoding encoding, int quality, const char *software, void **bytes, size_t *count);

/// A JPEG in sRGB without metadata, not larger than a square of `side`.
PictureStatus picture_thumbnail(Picture *picture, int side, void **bytes, size_t *count);

/// The same of an encoded picture, which is not decoded in full where its format allows that.
PictureStatus picture_thumbnail_of_bytes(const void *source, size_t length, int side, void **bytes, size_t *count);

/// The Software field of a picture file, or NULL. Release it with picture_free.
char *picture_software(const char *path);

/// Its samples, row by row. Release them with picture_free.
PictureStatus picture_samples(Picture *picture, void **bytes, size_t *count);

int picture_width(Picture *picture);
int picture_height(Picture *picture);
void picture_release(Picture *picture);
void picture_free(void *memory);

#endif
