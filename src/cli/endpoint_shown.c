/* SPDX-License-Identifier: MIT
 *
 * endpoint_shown.c - endpoints as owed endpoint shows them.
 */
#include "cli/endpoint_shown.h"

#include "cli/fields.h"
#include "cli/filter.h"
#include "declare/url.h"
#include "receive/endpoint.h"
#include "store/endpoints.h"

#define PAGE 500

static const struct field endpoint_fields[] = {
    FIELD(struct endpoint_row, id, "id", "ID", SHAPE_TEXT),
    FIELD(struct endpoint_row, name, "name", "NAME", SHAPE_KEY, .width = 30),
    FIELD(struct endpoint_row, url, "url", "URL", SHAPE_TEXT, .width = 60),
    FIELD(struct endpoint_row, tenant, "tenant", "TENANT", SHAPE_KEY),
    FIELD(struct endpoint_row, subscriptions, "events", "EVENTS", SHAPE_WORDS, .width = 40),
    FIELD(struct endpoint_row, format, "format", NULL, SHAPE_TEXT),
    FIELD(struct endpoint_row, signing, "signing", NULL, SHAPE_TEXT),
    FIELD(struct endpoint_row, secret, "public_key", NULL, SHAPE_KEY),
    FIELD(struct endpoint_row, filter, "filter", NULL, SHAPE_KEY),
    FIELD(struct endpoint_row, rate, "rate", NULL, SHAPE_CODE),
    FIELD(struct endpoint_row, previous_until_us, "previous_until", NULL, SHAPE_TIME),
    FIELD(struct endpoint_row, dead_in_row, "dead_in_row", "DEAD", SHAPE_INT),
    FIELD(struct endpoint_row, disabled_at_us, "disabled_at", "DISABLED", SHAPE_TIME),
    FIELD(
        struct endpoint_row, disabled_reason, "disabled_reason", "REASON", SHAPE_KEY, .width = 40),
    FIELD(struct endpoint_row, paused_at_us, "paused_at", "PAUSED", SHAPE_TIME),
    FIELD(struct endpoint_row, paused_until_us, "paused_until", "UNTIL", SHAPE_TIME),
    FIELD(struct endpoint_row, paused_reason, "paused_reason", "WHY", SHAPE_KEY, .width = 40),
    FIELD(struct endpoint_row, created_at_us, "created_at", NULL, SHAPE_TIME),
    FIELD(struct endpoint_row, updated_at_us, "updated_at", NULL, SHAPE_TIME),
    FIELDS_END,
};

/* hide leaves out what is nobody's business: what follows the path of a URL may be a token. Of a pair of keys the public one
 * stays. */
static void
hide(struct cli *cli, struct endpoint_row *row)
{
    char key[OWED_ENDPOINT_SECRET_BYTES];
    row->secret = endpoint_public_key(row, key) ? arena_strdup(&cli->arena, key) : NULL;
    const char *shown = arena_copy(&cli->arena, url_without_query(row->url));
    row->url = shown == NULL ? "" : shown;
}

/* label_of names what the customer verifies with. */
static const char *
label_of(const char *secret, bool is_json)
{
    bool is_public = strncmp(secret, "whpk_", strlen("whpk_")) == 0;
    if (is_json)
        return is_public ? "public_key" : "secret";
    return is_public ? "public key" : "secret";
}

void
endpoint_print_secret(struct cli *cli, const char *id, const char *secret)
{
    const char *label = label_of(secret, cli_json(cli));
    if (cli_json(cli))
        out_printf(&cli->out, "{\"id\":\"%s\",\"%s\":\"%s\"}\n", id, label, secret);
    else
        out_printf(&cli->out, "id: %s\n%s: %s\n", id, label, secret);
}

int
endpoint_list(struct cli *cli, const char *none)
{
    (void)none;
    struct endpoint_row *all = NULL;
    size_t count = 0;
    const char *tenant = options_text(cli->flags, "tenant");
    if (cli_open_store(cli, false) != OWED_OK)
        return cli_fail(cli);
    for (const char *after = "";;) {
        struct endpoint_row *page = NULL;
        size_t got = 0;
        if (store_endpoints(cli->db, after, PAGE, tenant, &cli->arena, &page, &got, &cli->err) !=
            OWED_OK)
            return cli_fail(cli);
        struct endpoint_row *more = arena_alloc(&cli->arena, (count + got + 1) * sizeof *more);
        if (more == NULL)
            return cli_refuse(EXIT_AGAIN, "out of memory");
        if (count > 0)
            memcpy(more, all, count * sizeof *more);
        if (got > 0)
            memcpy(more + count, page, got * sizeof *more);
        all = more;
        count += got;
        if (got < PAGE)
            break;
        after = all[count - 1].id;
    }
    for (size_t i = 0; i < count; i++)
        hide(cli, &all[i]);
    cli_list(cli, endpoint_fields, all, count, sizeof *all);
    return EXIT_DONE;
}

int
endpoint_show(struct cli *cli, const char *id)
{
    struct endpoint_row row;
    if (cli_open_store(cli, false) != OWED_OK ||
        store_endpoint(cli->db, id, &cli->arena, &row, &cli->err) != OWED_OK)
        return cli_fail(cli);
    hide(cli, &row);
    if (cli_json(cli))
        fields_lines(endpoint_fields, &row, 1, sizeof row, &cli->out);
    else
        fields_page(endpoint_fields, &row, &cli->out);
    return EXIT_DONE;
}
