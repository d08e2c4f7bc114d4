/* SPDX-License-Identifier: MIT
 *
 * templates_load.c - the files of a folder, made into templates.
 */
#include <owed/templates.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "notify/template.h"
#include "notify/template_file.h"
#include "notify/templates.h"

struct scan {
    const char *folder;
    int fd; // of the folder
    const struct templates_visitor *visitor;
    owed_templates *set;
    struct arena names;
    struct template_file *files; // sorted: by name, by language, the text before its HTML
    size_t count;
    struct arena arena; // of one template
    owed_error *err;
};

/* One template's files, as they are read. */
struct draft {
    owed_template_variant variants[LIMIT_VARIANTS];
    struct template_places places[LIMIT_VARIANTS];
    size_t count;
    const char *fallback;
    const char *fallback_path;
    int fallback_line;
};

static void
close_folder(DIR **folder)
{
    if (*folder != NULL)
        closedir(*folder);
}

static int
compare_files(const void *a, const void *b)
{
    const struct template_file *x = a;
    const struct template_file *y = b;
    int order = strcmp(x->name, y->name);
    if (order == 0)
        order = strcmp(or_empty(x->locale), or_empty(y->locale));
    if (order == 0)
        order = (int)x->is_html - (int)y->is_html;
    return order != 0 ? order : strcmp(x->file, y->file);
}

/* report hands a finding on; where nobody wants it, it ends the scan. */
static owed_status
report(const struct scan *scan, owed_status status, const owed_error *why)
{
    if (status == OWED_NOMEM || scan->visitor == NULL)
        return fail(scan->err, status, "%s", why->text);
    scan->visitor->finding(scan->visitor->state, why->text);
    return OWED_OK;
}

/* --- the folder --- */

static bool
is_passed_over(const char *file)
{
    return file[0] == '.' || file[strlen(file) - 1] == '~';
}

static owed_status
add_file(struct scan *scan, const char *file)
{
    owed_error why;
    if (scan->count == LIMIT_TEMPLATE_FILES)
        return fail(scan->err, OWED_LIMIT, "%s: over %d files", scan->folder, LIMIT_TEMPLATE_FILES);
    const char *path = arena_printf(&scan->names, "%s/%s", scan->folder, file);
    if (path == NULL)
        return fail_memory(scan->err);
    file = path + strlen(scan->folder) + 1;
    owed_status status =
        template_file_name(path, file, &scan->names, &scan->files[scan->count], &why);
    if (status != OWED_OK)
        return report(scan, status, &why);
    scan->count++;
    return OWED_OK;
}

static owed_status
list_files(struct scan *scan)
{
    // The stream takes a descriptor of its own with it when it is closed.
    int fd = openat(scan->fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    CLEANUP(close_folder) DIR *folder = fd < 0 ? NULL : fdopendir(fd);
    if (folder == NULL) {
        int why = errno;
        close_fd(&fd);
        errno = why;
        return fail_native(scan->err, OWED_CONFIG, why, "%s cannot be read: %m", scan->folder);
    }
    errno = 0;
    for (struct dirent *entry; (entry = readdir(folder)) != NULL; errno = 0) {
        owed_status status =
            is_passed_over(entry->d_name) ? OWED_OK : add_file(scan, entry->d_name);
        if (status != OWED_OK)
            return status;
    }
    if (errno != 0)
        return fail_native(scan->err, OWED_CONFIG, errno, "%s cannot be read: %m", scan->folder);
    qsort(scan->files, scan->count, sizeof *scan->files, compare_files);
    return OWED_OK;
}

/* --- one file --- */

static owed_status
open_file(
    const struct scan *scan, const struct template_file *file, FILE **ret_stream, owed_error *err)
{
    struct stat what;
    // Not blocking, lest a named pipe waits for a writer.
    int fd = openat(scan->fd, file->file, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0)
        return fail_native(err, OWED_CONFIG, errno, "%s cannot be opened: %m", file->path);
    if (fstat(fd, &what) != 0 || !S_ISREG(what.st_mode)) {
        close_fd(&fd);
        return fail(err, OWED_TEMPLATE, "%s: no plain file; a template is one", file->path);
    }
    *ret_stream = fdopen(fd, "r");
    if (*ret_stream == NULL)
        close_fd(&fd);
    return *ret_stream == NULL ? fail_memory(err) : OWED_OK;
}

static owed_status
read_file(
    const struct scan *scan, const struct template_file *file, struct buf *text, owed_error *err)
{
    CLEANUP(fclose_ptr) FILE *stream = NULL;
    owed_status status = open_file(scan, file, &stream, err);
    if (status != OWED_OK)
        return status;
    if (!buf_add_file(text, stream))
        return fail_native(err, OWED_CONFIG, errno, "%s cannot be read: %m", file->path);
    if (text->failed)
        return fail(err, OWED_LIMIT, "%s: over %zu bytes", file->path, LIMIT_TEMPLATE_FILE_BYTES);
    return template_file_check(file->path, buf_view(text), err);
}

static owed_status
add_default(
    struct draft *draft, const struct template_head *head, const char *path, owed_error *err)
{
    if (head->fallback == NULL)
        return OWED_OK;
    if (draft->fallback != NULL && strcmp(draft->fallback, head->fallback) != 0)
        return fail(err, OWED_LOCALE, "%s:%d: the default is %s here and %s in %s:%d; one is right",
            path, head->fallback_line, head->fallback, draft->fallback, draft->fallback_path,
            draft->fallback_line);
    draft->fallback = head->fallback;
    draft->fallback_path = path;
    draft->fallback_line = head->fallback_line;
    return OWED_OK;
}

static owed_status
add_text(struct scan *scan, struct draft *draft, const struct template_file *file, struct str text,
    owed_error *err)
{
    struct template_head head;
    owed_status status = template_file_parse(file->path, text, &scan->arena, &head, err);
    if (status != OWED_OK)
        return status;
    if (draft->count == LIMIT_VARIANTS)
        return fail(err, OWED_LIMIT, "%s: over %d languages", file->path, LIMIT_VARIANTS);
    if (head.fallback != NULL && file->locale == NULL)
        return fail(err, OWED_LOCALE,
            "%s:%d: a default is for templates in several languages; this file has none in its name",
            file->path, head.fallback_line);
    struct template_places *places = &draft->places[draft->count];
    *places = (struct template_places){
        .parts = {{file->path, head.subject_line}, {file->path, head.body_line}, {NULL, 0}},
        .said = arena_printf(
            &scan->arena, "%s:%d", file->path, head.variables_line == 0 ? 1 : head.variables_line)};
    draft->variants[draft->count++] = (owed_template_variant){.locale = file->locale,
        .source = {.name = file->name,
            .variables = head.variables,
            .subject = head.subject,
            .text = head.body}};
    return places->said == NULL ? fail_memory(err) : add_default(draft, &head, file->path, err);
}

/* add_html: its text came just before it. */
static owed_status
add_html(struct scan *scan, struct draft *draft, const struct template_file *file, struct str text,
    owed_error *err)
{
    owed_template_variant *last = draft->count == 0 ? NULL : &draft->variants[draft->count - 1];
    if (last == NULL || strcmp(or_empty(last->locale), or_empty(file->locale)) != 0)
        return fail(err, OWED_TEMPLATE,
            "%s: it needs its text beside it, in a file that ends in .txt and else has the same name",
            file->path);
    if (last->source.html != NULL)
        return fail(
            err, OWED_LOCALE, "%s: a second HTML for %s", file->path, or_empty(file->locale));
    last->source.html = template_file_body(text, &scan->arena);
    draft->places[draft->count - 1].parts[PART_HTML] = (struct part_place){file->path, 1};
    return last->source.html == NULL ? fail_memory(err) : OWED_OK;
}

static owed_status
add_to_draft(
    struct scan *scan, struct draft *draft, const struct template_file *file, owed_error *err)
{
    struct buf text CLEANUP(buf_done);
    buf_init(&text, LIMIT_TEMPLATE_FILE_BYTES);
    owed_status status = read_file(scan, file, &text, err);
    if (status != OWED_OK)
        return status;
    return (file->is_html ? add_html : add_text)(scan, draft, file, buf_view(&text), err);
}

/* --- one template --- */

/* check_languages: with one or none in its files' names, or with several and a default. */
static owed_status
check_languages(const struct draft *draft, const struct template_file *files, owed_error *err)
{
    const owed_template_variant *first = &draft->variants[0];
    if (draft->count > 1 && first->locale == NULL)
        return fail(err, OWED_LOCALE,
            "%s: it has no language in its name, and %s has one; all of a template's files do, or none",
            files[0].path, draft->places[1].parts[PART_TEXT].path);
    if (draft->count > 1 && draft->fallback == NULL)
        return fail(err, OWED_LOCALE,
            "%s:1: none of %zu languages is the default; a header with default: %s would say that this is",
            files[0].path, draft->count, first->locale);
    for (size_t i = 0; i < draft->count; i++)
        if (draft->fallback == NULL || strcmp(draft->fallback, draft->variants[i].locale) == 0)
            return OWED_OK;
    return fail(err, OWED_MISSING_LOCALE, "%s:%d: the default is %s, and there is no %s.%s.txt",
        draft->fallback_path, draft->fallback_line, draft->fallback, files[0].name,
        draft->fallback);
}

static owed_status
make_template(struct scan *scan, struct draft *draft, const struct template_file *files,
    size_t count, owed_error *err)
{
    owed_template *tmpl = NULL;
    owed_status status = OWED_OK;
    for (size_t i = 0; i < count && status == OWED_OK; i++)
        status = add_to_draft(scan, draft, &files[i], err);
    if (status == OWED_OK)
        status = check_languages(draft, files, err);
    const struct template_list list = {.name = files[0].name,
        .variants = draft->variants,
        .places = draft->places,
        .count = draft->count};
    if (status == OWED_OK)
        status = template_make(&list, draft->fallback, &tmpl, err);
    if (status != OWED_OK)
        return status;
    status = owed_templates_add(scan->set, tmpl, err);
    if (status != OWED_OK)
        owed_template_free(tmpl);
    return status;
}

static owed_status
make_all(struct scan *scan)
{
    CLEANUP(free_ptr) struct draft *draft = calloc(1, sizeof *draft);
    owed_error why;
    if (draft == NULL)
        return fail_memory(scan->err);
    for (size_t from = 0, to; from < scan->count; from = to) {
        for (to = from + 1; to < scan->count; to++)
            if (strcmp(scan->files[to].name, scan->files[from].name) != 0)
                break;
        memset(draft, 0, sizeof *draft);
        owed_status status = make_template(scan, draft, scan->files + from, to - from, &why);
        arena_reset(&scan->arena);
        if (status != OWED_OK)
            status = report(scan, status, &why);
        if (status != OWED_OK)
            return status;
    }
    return OWED_OK;
}

owed_status
templates_scan(owed_templates *set, const char *folder, const struct templates_visitor *visitor,
    owed_error *err)
{
    CLEANUP(close_fd) int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return fail_native(err, errno == ENOENT ? OWED_NOT_FOUND : OWED_CONFIG, errno,
            "the folder of templates %s cannot be read: %m", folder);
    struct scan scan = {.folder = folder, .fd = fd, .visitor = visitor, .set = set, .err = err};
    arena_init(&scan.names, 0);
    arena_init(&scan.arena, 0);
    scan.files = arena_alloc(&scan.names, LIMIT_TEMPLATE_FILES * sizeof *scan.files);
    owed_status status = scan.files == NULL ? fail_memory(err) : list_files(&scan);
    if (status == OWED_OK)
        status = make_all(&scan);
    arena_done(&scan.arena);
    arena_done(&scan.names);
    return status;
}

owed_status
owed_templates_load(owed_templates *set, const char *folder, owed_error *err)
{
    owed_templates *loaded = NULL;
    owed_status status = owed_templates_new(&loaded, err);
    if (status == OWED_OK)
        status = templates_scan(loaded, folder, NULL, err);
    if (status == OWED_OK)
        status = templates_take(set, loaded, err);
    owed_templates_free(loaded);
    return status;
}
