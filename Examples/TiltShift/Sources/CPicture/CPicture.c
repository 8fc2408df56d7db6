#include "CPicture.h"

#include <string.h>
#include <vips/vips.h>

#ifdef __GLIBC__
#include <malloc.h>
#endif

// Damaged pictures are reported by results, not by messages on standard error.
static void say_nothing(const char *domain, GLogLevelFlags level, const char *text, void *data) {}

bool picture_start(const char *program) {
    if (VIPS_INIT(program)) return false;
#ifdef __GLIBC__
    // By default, malloc would keep the memory of released pictures, separately for each thread.
    mallopt(M_MMAP_THRESHOLD, 1 << 20);
    mallopt(M_ARENA_MAX, 2);
#endif
    // Operations already run in parallel, and no picture is computed twice.
    vips_concurrency_set(1);
    vips_cache_set_max(0);
    g_log_set_handler("VIPS", G_LOG_LEVEL_WARNING, say_nothing, NULL);
    return true;
}

int picture_width(Picture *picture) { return vips_image_get_width(picture); }
int picture_height(Picture *picture) { return vips_image_get_height(picture); }
void picture_release(Picture *picture) { g_object_unref(picture); }
void picture_free(void *memory) { g_free(memory); }
void picture_stop(Picture *plan) { vips_image_set_kill(plan, TRUE); }

static PictureStatus failed(PictureStatus status) {
    vips_error_clear();
    return status;
}

// A chain of libvips calls makes pictures that only the next call needs. `step` keeps the latest and releases the
// previous one.
static void step(Picture **current, Picture *next) {
    g_object_unref(*current);
    *current = next;
}

// MARK: - Reading

static bool is_known_loader(const char *loader) {
    static const char *const known[] = {
        "VipsForeignLoadJpeg", "VipsForeignLoadPng", "VipsForeignLoadWebp", "VipsForeignLoadTiff"};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strncmp(loader, known[i], strlen(known[i])) == 0) return true;
    return false;
}

static bool is_grey_or_rgb(Picture *picture) {
    switch (vips_image_get_interpretation(picture)) {
    case VIPS_INTERPRETATION_B_W:
    case VIPS_INTERPRETATION_GREY16:
    case VIPS_INTERPRETATION_sRGB:
    case VIPS_INTERPRETATION_RGB:
    case VIPS_INTERPRETATION_RGB16:
        return true;
    default:
        return false;
    }
}

PictureStatus picture_plan(
    const void *bytes, size_t count, double pixel_limit, Picture **plan, int *width, int *height) {
    VipsBlob *blob = vips_blob_copy(bytes, count);
    VipsSource *source = vips_source_new_from_blob(blob);
    vips_area_unref(VIPS_AREA(blob));
    const char *loader = vips_foreign_find_load_source(source);
    if (!loader || !is_known_loader(loader)) {
        g_object_unref(source);
        return failed(PICTURE_UNKNOWN_FORMAT);
    }
    Picture *current = vips_image_new_from_source(
        source, "", "access", VIPS_ACCESS_SEQUENTIAL, "fail_on", VIPS_FAIL_ON_TRUNCATED, NULL);
    g_object_unref(source);
    if (!current) return failed(PICTURE_DAMAGED);
    *width = vips_image_get_width(current);
    *height = vips_image_get_height(current);
    if ((double)*width * *height > pixel_limit) {
        g_object_unref(current);
        return PICTURE_TOO_LARGE;
    }
    Picture *next = NULL;
    if (!is_grey_or_rgb(current)) {
        // Colour spaces such as CMYK are converted with their profile if they have one.
        bool done = vips_image_get_typeof(current, VIPS_META_ICC_NAME)
                        ? !vips_icc_transform(current, &next, "srgb", "embedded", TRUE, NULL)
                        : !vips_colourspace(current, &next, VIPS_INTERPRETATION_sRGB, NULL);
        if (!done) {
            g_object_unref(current);
            return failed(PICTURE_UNUSUAL);
        }
        step(&current, next);
    }
    if (vips_image_get_orientation(current) > 1) {
        // A rotation reads rows in any order, but a decoder yields them sequentially.
        next = vips_image_copy_memory(current);
        if (!next) {
            g_object_unref(current);
            return failed(PICTURE_DAMAGED);
        }
        step(&current, next);
        if (vips_autorot(current, &next, NULL)) {
            g_object_unref(current);
            return failed(PICTURE_FAILED);
        }
        step(&current, next);
        *width = vips_image_get_width(current);
        *height = vips_image_get_height(current);
    }
    *plan = current;
    return PICTURE_OK;
}

PictureStatus picture_render(Picture *plan, Picture **rendered) {
    *rendered = vips_image_copy_memory(plan);
    return *rendered ? PICTURE_OK : failed(PICTURE_DAMAGED);
}

// MARK: - The effect

// Makes a picture of the given width from the mask.
static int mask_picture(const uint8_t *mask, int width, int height, Picture **out) {
    Picture *column = vips_image_new_from_memory_copy(mask, (size_t)height, 1, height, 1, VIPS_FORMAT_UCHAR);
    if (!column) return -1;
    int result = vips_zoom(column, out, width, 1, NULL);
    g_object_unref(column);
    return result;
}

// A strongly blurred picture has no details, so it is blurred at a smaller size, which is several times as fast and
// looks the same.
static int blur(Picture *sharp, double sigma, Picture **out) {
    double factor = sigma / 3;
    if (factor < 2) return vips_gaussblur(sharp, out, sigma, NULL);
    int width = vips_image_get_width(sharp), height = vips_image_get_height(sharp);
    Picture *small = NULL, *blurred = NULL;
    int result = vips_resize(sharp, &small, 1 / factor, NULL) ||
                 vips_gaussblur(small, &blurred, sigma / factor, NULL) ||
                 vips_resize(
                     blurred, out, (double)width / vips_image_get_width(small), "vscale",
                     (double)height / vips_image_get_height(small), "kernel", VIPS_KERNEL_LINEAR, NULL);
    g_clear_object(&small);
    g_clear_object(&blurred);
    return result;
}

// Makes a mixture: `sharp` blurred by `sigma` where the mask is 255, and `above` where it is 0.
static int blend_blurred(
    Picture *sharp, Picture *above, const uint8_t *mask, double sigma, Picture **out) {
    Picture *blurred = NULL, *weights = NULL;
    int result = blur(sharp, sigma, &blurred) ||
                 mask_picture(mask, vips_image_get_width(sharp), vips_image_get_height(sharp), &weights) ||
                 vips_ifthenelse(weights, blurred, above, out, "blend", TRUE, NULL);
    g_clear_object(&blurred);
    g_clear_object(&weights);
    return result ? -1 : 0;
}

// Moves each colour away from its luminance (ITU-R BT.709). An alpha channel is kept.
static int saturate(Picture *picture, double saturation, Picture **out) {
    int bands = vips_image_get_bands(picture);
    static const double luminance[3] = {0.2126, 0.7152, 0.0722};
    Picture *matrix = vips_image_new_matrix(bands, bands);
    if (!matrix) return -1;
    for (int row = 0; row < bands; row++)
        for (int column = 0; column < bands; column++)
            *VIPS_MATRIX(matrix, column, row) =
                row < 3 && column < 3
                    ? (1 - saturation) * luminance[column] + (row == column ? saturation : 0)
                    : row == column;
    int result = vips_recomb(picture, out, matrix, NULL);
    g_object_unref(matrix);
    return result;
}

PictureStatus picture_plan_tilt_shift(
    Picture *sharp, const uint8_t *half_mask, const uint8_t *full_mask, double sigma, double saturation,
    Picture **plan) {
    VipsBandFormat format = vips_image_get_format(sharp);
    VipsInterpretation interpretation = vips_image_get_interpretation(sharp);
    bool has_alpha = vips_image_hasalpha(sharp);
    bool has_colours = vips_image_get_bands(sharp) >= 3;
    double largest = format == VIPS_FORMAT_USHORT ? 65535 : 255;

    Picture *current = sharp, *next = NULL;
    g_object_ref(current);
    // Transparent pixels have a colour as well, which must not blend into their neighbours.
    if (has_alpha) {
        if (vips_premultiply(current, &next, "max_alpha", largest, NULL)) goto failure;
        step(&current, next);
    }
    if (sigma > 0) {
        Picture *half = NULL;
        int result = blend_blurred(current, current, half_mask, sigma * 0.4, &half) ||
                     blend_blurred(current, half, full_mask, sigma, &next);
        g_clear_object(&half);
        if (result) goto failure;
        step(&current, next);
    }
    if (has_colours && saturation != 1) {
        if (saturate(current, saturation, &next)) goto failure;
        step(&current, next);
    }
    if (has_alpha) {
        if (vips_unpremultiply(current, &next, "max_alpha", largest, NULL)) goto failure;
        step(&current, next);
    }
    if (vips_cast(current, &next, format, NULL)) goto failure;
    step(&current, next);
    if (vips_copy(current, &next, "interpretation", interpretation, NULL)) goto failure;
    step(&current, next);
    *plan = current;
    return PICTURE_OK;
failure:
    g_object_unref(current);
    return failed(PICTURE_FAILED);
}

// MARK: - Writing

PictureStatus picture_encode(
    Picture *picture, PictureEncoding encoding, int quality, const char *software, void **bytes, size_t *count) {
    // Metadata may be changed only in a copy.
    Picture *copy = NULL;
    if (vips_copy(picture, &copy, NULL)) return failed(PICTURE_FAILED);
    vips_image_remove(copy, "jpeg-thumbnail-data"); // shows the unchanged picture
    vips_image_set_string(copy, "exif-ifd0-Software", software);
    vips_image_set_string(copy, "png-comment-0-Software", software);
    int result = -1;
    switch (encoding) {
    case PICTURE_JPEG: {
        VipsArrayDouble *white = vips_array_double_newv(1, 255.0);
        result = vips_jpegsave_buffer(
            copy, bytes, count, "Q", quality, "optimize_coding", TRUE, "background", white, NULL);
        vips_area_unref(VIPS_AREA(white));
        break;
    }
    case PICTURE_PNG:
        result = vips_pngsave_buffer(copy, bytes, count, NULL);
        break;
    case PICTURE_WEBP:
        result = vips_webpsave_buffer(copy, bytes, count, "Q", quality, NULL);
        break;
    }
    g_object_unref(copy);
    return result ? failed(PICTURE_FAILED) : PICTURE_OK;
}

static PictureStatus small_jpeg(Picture *picture, void **bytes, size_t *count) {
    int result = vips_jpegsave_buffer(picture, bytes, count, "Q", 82, "strip", TRUE, NULL);
    g_object_unref(picture);
    return result ? failed(PICTURE_DAMAGED) : PICTURE_OK;
}

PictureStatus picture_thumbnail(Picture *picture, int side, void **bytes, size_t *count) {
    Picture *small = NULL;
    if (vips_thumbnail_image(
            picture, &small, side, "height", side, "size", VIPS_SIZE_DOWN, "export_profile", "srgb", NULL))
        return failed(PICTURE_FAILED);
    return small_jpeg(small, bytes, count);
}

PictureStatus picture_thumbnail_of_bytes(const void *source, size_t length, int side, void **bytes, size_t *count) {
    Picture *small = NULL;
    if (vips_thumbnail_buffer(
            (void *)source, length, &small, side, "height", side, "size", VIPS_SIZE_DOWN, "export_profile", "srgb",
            NULL))
        return failed(PICTURE_DAMAGED);
    return small_jpeg(small, bytes, count);
}

PictureStatus picture_samples(Picture *picture, void **bytes, size_t *count) {
    *bytes = vips_image_write_to_memory(picture, count);
    return *bytes ? PICTURE_OK : failed(PICTURE_FAILED);
}

// MARK: - Metadata

static void *software_field(Picture *picture, const char *name, GValue *value, void *found) {
    bool is_software = strcmp(name, "exif-ifd0-Software") == 0 ||
                       (g_str_has_prefix(name, "png-comment-") && g_str_has_suffix(name, "-Software"));
    if (!is_software) return NULL;
    char *text = NULL;
    if (vips_image_get_as_string(picture, name, &text)) return NULL;
    // Libvips appends the type to the text of Exif fields: "text (text, ASCII, 5 components, 5 bytes)".
    char *end = g_str_has_prefix(name, "exif-") ? strstr(text, " (") : NULL;
    if (end) *end = '\0';
    *(char **)found = text;
    return found;
}

char *picture_software(const char *path) {
    const char *loader = vips_foreign_find_load(path);
    Picture *picture = loader && is_known_loader(loader) ? vips_image_new_from_file(path, NULL) : NULL;
    char *found = NULL;
    if (picture) {
        vips_image_map(picture, software_field, &found);
        g_object_unref(picture);
    }
    vips_error_clear();
    return found;
}
