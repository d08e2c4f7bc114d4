/* SPDX-License-Identifier: MIT
 *
 * template.c - whatever a template is made of: what is made also renders, and HTML lets no value out.
 */
#include <owed/template.h>

#include <string.h>

#include "fuzz.h"

static void
check_rendered(const owed_rendered *rendered)
{
    must(strchr(rendered->subject, '\n') == NULL);
    must(strlen(rendered->html) >= strlen(rendered->text));
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const owed_variable variables[] = {{"t", OWED_KIND_TEXT}, {"d", OWED_KIND_DOUBLE},
        {"i", OWED_KIND_INT64}, {"m", OWED_KIND_DECIMAL}, {"b", OWED_KIND_BOOL},
        {NULL, OWED_KIND_END}};
    static const owed_value values[] = {OWED_VALUE_TEXT("t", "<\n\xc3\xa9"),
        OWED_VALUE_DOUBLE("d", -1234.5), OWED_VALUE_INT64("i", INT64_MIN),
        OWED_VALUE_DECIMAL("m", "-0.995"), OWED_VALUE_BOOL("b", true), OWED_VALUES_END};
    static const char used[] = "{t}{d}{i}{m}{b}";
    char *text = malloc(size + sizeof used);
    must(text != NULL);
    memcpy(text, data, size);
    memcpy(text + size, used, sizeof used);
    char *subject = strndup(text, strcspn(text, "\r\n"));
    must(subject != NULL);
    const owed_template_source source = {
        .name = "t", .variables = variables, .subject = subject, .text = text, .html = text};
    owed_template *tmpl;
    owed_rendered rendered;
    if (owed_template_new(&source, &tmpl, NULL) == OWED_OK) {
        if (owed_template_render(tmpl, NULL, values, &rendered, NULL) == OWED_OK) {
            check_rendered(&rendered);
            owed_rendered_done(&rendered);
        }
        owed_template_free(tmpl);
    }
    free(subject);
    free(text);
    return 0;
}
