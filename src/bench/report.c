/* SPDX-License-Identifier: MIT
 *
 * report.c - what a benchmark found, for people and as one JSON document.
 */
#include "bench/report.h"

#include <inttypes.h>
#include <math.h>

#include "base/clock.h"
#include "base/json.h"
#include "base/str.h"

/* A figure: its key in JSON, and its line in text. */
static const struct line {
    const char *key;
    const char *label; // NULL: another line says it
    double scale;      // of the value, in text
    int decimals;
    const char *after;
} lines[FIGURES] = {
    [FIGURE_COUNT] = {"count", NULL, 1, 0, ""},
    [FIGURE_SECONDS] = {"seconds", NULL, 1, 6, ""},
    [FIGURE_RATE] = {"rate", NULL, 1, 1, ""},
    [FIGURE_BARE_RATE] = {"bare_rate", "bare loop", 1, 0, "/s"},
    [FIGURE_RATIO] = {"ratio", "ratio", 1, 2, " of the bare loop"},
    [FIGURE_MAX_RATE] = {"max_rate", "at most", 1, 0, "/s, of which this is half"},
    [FIGURE_P50] = {"p50_us", NULL, 1, 0, ""},
    [FIGURE_P90] = {"p90_us", NULL, 1, 0, ""},
    [FIGURE_P99] = {"p99_us", NULL, 1, 0, ""},
    [FIGURE_MAX] = {"max_us", NULL, 1, 0, ""},
    [FIGURE_LOG_BYTES] = {"log_bytes_per_delivery", "log", 1, 0, " bytes a delivery"},
    [FIGURE_DEAD_TUPLES] = {"dead_tuples", "dead tuples", 1, 0, ""},
    [FIGURE_TABLE_BYTES] = {"table_bytes", "tables", 1e-6, 1, " MB"},
    [FIGURE_INDEX_BYTES] = {"index_bytes", "indexes", 1e-6, 1, " MB"},
    [FIGURE_TRANSACTIONS] = {"transactions_per_second", "transactions", 1, 2, "/s on the server"},
    [FIGURE_WAKE_UPS] = {"wake_ups_per_second", "wake-ups", 1, 2, "/s"},
    [FIGURE_CPU] = {"cpu_us_per_second", "processor", 1, 0, " us a second"},
    [FIGURE_RESIDENT] = {"resident_bytes", "memory", 1e-6, 1, " MB"},
};

void
report_init(struct report *report)
{
    *report = (struct report){.benchmark = NULL};
    for (size_t i = 0; i < FIGURES; i++)
        report->figures[i] = (double)NAN;
}

void
report_set(struct report *report, enum figure figure, double value)
{
    report->figures[figure] = value;
}

bool
report_has(const struct report *report, enum figure figure)
{
    return !isnan(report->figures[figure]);
}

double
per_second(int64_t count, int64_t took_us)
{
    return (double)count * (double)US_PER_SECOND / (double)(took_us > 0 ? took_us : 1);
}

void
report_rates(struct report *report, int64_t count, int64_t took_us, double bare_rate)
{
    report_set(report, FIGURE_COUNT, (double)count);
    report_set(report, FIGURE_SECONDS, (double)(took_us > 0 ? took_us : 1) / (double)US_PER_SECOND);
    report_set(report, FIGURE_RATE, per_second(count, took_us));
    if (bare_rate <= 0)
        return;
    report_set(report, FIGURE_BARE_RATE, bare_rate);
    report_set(report, FIGURE_RATIO, per_second(count, took_us) / bare_rate);
}

void
report_percentiles(struct report *report, struct samples *samples)
{
    struct percentiles sum;
    if (!samples_sum(samples, &sum))
        return;
    report_set(report, FIGURE_P50, (double)sum.p50);
    report_set(report, FIGURE_P90, (double)sum.p90);
    report_set(report, FIGURE_P99, (double)sum.p99);
    report_set(report, FIGURE_MAX, (double)sum.max);
}

/* --- JSON --- */

static void
json_text(struct buf *json, const char *key, const char *text)
{
    buf_printf(json, "\"%s\":", key);
    if (text == NULL)
        buf_puts(json, "null");
    else
        json_write_string(json, str_of(text));
    buf_putc(json, ',');
}

static void
json_whole(struct buf *json, const char *key, int64_t number)
{
    if (number < 0)
        buf_printf(json, "\"%s\":null", key);
    else
        buf_printf(json, "\"%s\":%" PRId64, key, number);
}

static void
json_slice(struct buf *json, const struct slice *slice)
{
    buf_printf(json, "{\"rate\":%.1f,", slice->rate);
    json_whole(json, "claim_p50_us", slice->claim_p50_us);
    buf_putc(json, ',');
    json_whole(json, "dead_tuples", slice->dead_tuples);
    buf_putc(json, ',');
    json_whole(json, "table_bytes", slice->table_bytes);
    buf_putc(json, ',');
    json_whole(json, "index_bytes", slice->index_bytes);
    buf_putc(json, '}');
}

void
report_json(const struct report *report, struct buf *json)
{
    buf_putc(json, '{');
    json_text(json, "benchmark", report->benchmark);
    json_text(json, "store", report->store);
    for (size_t i = 0; i < REPORT_SETTINGS && report->settings[i].key != NULL; i++) {
        json_whole(json, report->settings[i].key, report->settings[i].value);
        buf_putc(json, ',');
    }
    json_text(json, "unit", report->unit);
    json_text(json, "percentiles_of", report->wait);
    for (size_t i = 0; i < FIGURES; i++) {
        if (report_has(report, (enum figure)i))
            buf_printf(json, "\"%s\":%.*f,", lines[i].key,
                lines[i].scale < 1 ? 0 : lines[i].decimals, report->figures[i]);
        else
            buf_printf(json, "\"%s\":null,", lines[i].key);
    }
    buf_puts(json, "\"slices\":[");
    for (size_t i = 0; i < report->slice_count; i++) {
        buf_puts(json, i == 0 ? "" : ",");
        json_slice(json, &report->slices[i]);
    }
    buf_puts(json, "]}\n");
}

/* --- text --- */

/* write_unit writes "deliveries", or "delivery" where there is one. */
static void
write_unit(const char *unit, double count, struct buf *text)
{
    size_t len = strlen(unit);
    bool ends_in_y = len > 3 && strcmp(unit + len - 3, "ies") == 0;
    if (count != 1)
        buf_puts(text, unit);
    else
        buf_printf(
            text, "%.*s%s", (int)(ends_in_y ? len - 3 : len - 1), unit, ends_in_y ? "y" : "");
}

static void
text_rate(const struct report *report, struct buf *text)
{
    if (!report_has(report, FIGURE_RATE))
        return;
    buf_printf(text, "%-15s %.0f/s  (%.0f ", "rate", report->figures[FIGURE_RATE],
        report->figures[FIGURE_COUNT]);
    write_unit(report->unit, report->figures[FIGURE_COUNT], text);
    buf_printf(text, " in %.2f s)\n", report->figures[FIGURE_SECONDS]);
}

static void
text_percentiles(const struct report *report, struct buf *text)
{
    if (!report_has(report, FIGURE_P50))
        return;
    const double *us = report->figures;
    buf_printf(text, "%-15s p50 %.3f  p90 %.3f  p99 %.3f  max %.3f ms\n", report->wait,
        us[FIGURE_P50] / 1000, us[FIGURE_P90] / 1000, us[FIGURE_P99] / 1000, us[FIGURE_MAX] / 1000);
}

static void
text_slices(const struct report *report, struct buf *text)
{
    if (report->slice_count == 0)
        return;
    buf_puts(text, "\n  TWELFTH      RATE  CLAIM MS  DEAD TUPLES  TABLES MB  INDEXES MB\n");
    for (size_t i = 0; i < report->slice_count; i++) {
        const struct slice *slice = &report->slices[i];
        buf_printf(
            text, "  %7zu %9.0f %9.3f", i + 1, slice->rate, (double)slice->claim_p50_us / 1000);
        if (slice->table_bytes >= 0)
            buf_printf(text, " %12" PRId64 " %10.1f %11.1f", slice->dead_tuples,
                (double)slice->table_bytes * 1e-6, (double)slice->index_bytes * 1e-6);
        buf_putc(text, '\n');
    }
}

void
report_text(const struct report *report, struct buf *text)
{
    buf_printf(text, "%s on %s\n", report->benchmark, report->store);
    text_rate(report, text);
    text_percentiles(report, text);
    for (size_t i = 0; i < FIGURES; i++)
        if (lines[i].label != NULL && report_has(report, (enum figure)i))
            buf_printf(text, "%-15s %.*f%s\n", lines[i].label, lines[i].decimals,
                report->figures[i] * lines[i].scale, lines[i].after);
    text_slices(report, text);
}
