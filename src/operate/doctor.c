/* SPDX-License-Identifier: MIT
 *
 * doctor.c - every check in turn, and what it found in words.
 */
#include "operate/doctor.h"

#include "store/verbs.h"

#define ARGUMENTS_MAX 4

static const struct doctor_check schema_check = {
    .name = "schema",
    .about = "the tables are not of this program's version",
    .sentence = "{detail}",
    .remedy = "migrate",
};

static const struct doctor_check foreign_check = {
    .name = "schema", .sentence = "{detail}", .by = BY_SHELL, .remedy = ""};

static bool
fits(const struct doctor_check *check, const struct db *db)
{
    const char *scheme = db->driver->scheme;
    bool is_here = check->store == NULL || strcmp(check->store, scheme) == 0 ||
        (strcmp(check->store, "mariadb") == 0 && strcmp(scheme, "mysql") == 0);
    return is_here && (check->look != NULL || db->driver->sql->statements[check->stmt] != NULL);
}

static struct value
argument(char letter, const struct doctor *doctor, const struct doctor_check *check)
{
    switch (letter) {
    case 't':
        return V_INT(check->threshold);
    case 'n':
        return V_TIME(doctor->now_us);
    case 'l':
        return V_INT(doctor->long_us);
    case 'm':
        return V_INT(DOCTOR_MOST);
    default:
        return V_INT(letter - '0');
    }
}

static owed_status
look(const struct doctor *doctor, const struct doctor_check *check, struct trouble **ret_troubles,
    size_t *ret_count, owed_error *err)
{
    if (check->look != NULL)
        return check->look(doctor, check, ret_troubles, ret_count, err);
    struct value args[ARGUMENTS_MAX];
    size_t count = 0;
    for (const char *p = or_empty(check->takes); *p != '\0' && count < ARGUMENTS_MAX; p++)
        args[count++] = argument(*p, doctor, check);
    return store_troubles(
        doctor->db, check->stmt, args, count, doctor->arena, ret_troubles, ret_count, err);
}

static owed_status
print_trouble(const struct doctor *doctor, const struct doctor_check *check,
    const struct trouble *trouble, doctor_print print, void *state, owed_error *err)
{
    struct doctor_finding finding = {
        .check = check->name,
        .state = check->is_note ? "unseen" : "found",
        .subject = trouble->subject,
        .sentence = doctor_sentence(doctor, check, trouble),
        .command = doctor_command(doctor, check, trouble),
    };
    if (finding.sentence == NULL || finding.command == NULL)
        return fail_memory(err);
    print(state, &finding);
    return OWED_OK;
}

/* print_refused: what one check may not see, or cannot in good time, keeps no other from being made. */
static owed_status
print_refused(const struct doctor *doctor, const struct doctor_check *check, doctor_print print,
    void *state, owed_error *err)
{
    // A connection that is lost is of no use to the next check; of a file another page may be sound.
    bool is_lost = err->status == OWED_UNAVAILABLE && doctor->db->driver->session != NULL;
    if (is_lost || err->status == OWED_NOMEM)
        return err->status;
    struct doctor_finding finding = {
        .check = check->name,
        .state = "unseen",
        .subject = "",
        .sentence = arena_printf(doctor->arena, "this could not be looked at: %s", err->text),
        .command = "",
    };
    if (finding.sentence == NULL)
        return fail_memory(err);
    print(state, &finding);
    return OWED_OK;
}

static owed_status
make(const struct doctor *doctor, const struct doctor_check *check, doctor_print print, void *state,
    size_t *found, owed_error *err)
{
    struct trouble *troubles = NULL;
    size_t count = 0;
    owed_status status = look(doctor, check, &troubles, &count, err);
    if (status != OWED_OK)
        return print_refused(doctor, check, print, state, err);
    for (size_t i = 0; i < count && status == OWED_OK; i++)
        status = print_trouble(doctor, check, &troubles[i], print, state, err);
    *found += check->is_note ? 0 : count;
    return status;
}

owed_status
doctor_run(const struct doctor *doctor, doctor_print print, void *state, size_t *ret_found,
    size_t *ret_checks, owed_error *err)
{
    *ret_found = 0;
    *ret_checks = 1;
    struct trouble *schema = NULL;
    size_t count = 0;
    owed_status status = look_schema(doctor, &schema_check, &schema, &count, err);
    if (status != OWED_OK)
        return status;
    *ret_found = count;
    if (count > 0) { // nothing else can be relied on
        bool helps = schema->amount != 0;
        return print_trouble(
            doctor, helps ? &schema_check : &foreign_check, schema, print, state, err);
    }
    status = store_limit_looks(doctor->db, err);
    for (const struct doctor_check *c = doctor_checks; status == OWED_OK && c->name != NULL; c++) {
        if (!fits(c, doctor->db))
            continue;
        status = make(doctor, c, print, state, ret_found, err);
        *ret_checks += 1;
    }
    return status;
}
