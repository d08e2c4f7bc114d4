/* SPDX-License-Identifier: MIT
 *
 * template_file.c - a file of a folder of templates is read or refused with its line; what is read makes a
 * template, or one is refused with its line, too.
 */
#include "notify/template_file.h"

#include <string.h>

#include "fuzz.h"
#include "notify/template.h"

static void
check_made(const struct template_head *head)
{
    const struct template_places places = {
        .parts = {{"a.txt", head->subject_line}, {"a.txt", head->body_line}, {NULL, 0}},
        .said = "a.txt:1"};
    const owed_template_variant variant = {.source = {.name = "a",
                                               .variables = head->variables,
                                               .subject = head->subject,
                                               .text = head->body}};
    const struct template_list list = {"a", &variant, &places, 1};
    owed_template *tmpl = NULL;
    owed_error err;
    if (template_make(&list, NULL, &tmpl, &err) == OWED_OK)
        must(owed_template_name(tmpl)[0] == 'a');
    else
        must(memcmp(err.text, "a.txt:", 6) == 0);
    owed_template_free(tmpl);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct str text = {(const char *)data, size};
    struct arena arena;
    struct template_head head;
    owed_error err;
    arena_init(&arena, 0);
    owed_status status = template_file_check("a.txt", text, &err);
    if (status == OWED_OK)
        status = template_file_parse("a.txt", text, &arena, &head, &err);
    if (status == OWED_OK) {
        must(head.body[0] != '\0' && head.body_line > 1);
        must(head.subject == NULL || strchr(head.subject, '\n') == NULL);
        check_made(&head);
    } else {
        must(memcmp(err.text, "a.txt:", 6) == 0);
    }
    arena_done(&arena);
    return 0;
}
