"""report.py - the figures of bench/table as Markdown, as JSON and as a chart."""
import html
import statistics
import textwrap

NAMES = {"owed": "owed", "bare": "bare loop", "graphile": "graphile-worker", "pgboss": "pg-boss"}
STORES = {"postgres": "PostgreSQL", "sqlite": "SQLite", "mariadb": "MariaDB"}
# Readable on white and on black alike; text follows the reader's scheme where one is told.
COLOURS = {"owed": "#2f81f7", "graphile": "#d9822b", "pgboss": "#8a63d2"}
STYLE = """\
text { font: 12px system-ui, sans-serif; fill: #6e7781 }
.small { font-size: 11px } .fine { font-size: 10px } .title { font-size: 14px; font-weight: 600 }
.grid { stroke: #8c959f; stroke-opacity: .35 } .limit { stroke: #8c959f; stroke-width: 1.5; stroke-dasharray: 4 3 }
@media (prefers-color-scheme: light) { text { fill: #1f2328 } }
@media (prefers-color-scheme: dark) { text { fill: #e6edf3 } }"""


def summary(samples):
    return {"median": statistics.median(samples), "min": min(samples), "max": max(samples), "samples": samples}


def number(value, unit):
    if unit == "ms":
        return f"{value:.2f}"
    return f"{value / 1000:.1f}k" if value >= 10000 else f"{value:,.0f}"


def cell(line, who):
    if who not in line["figures"]:
        return "-"
    figures = line["figures"][who]
    if "failed" in figures:
        return "failed"
    text = number(figures["median"], line["unit"])
    if figures["min"] == figures["max"]:
        return text
    return f"{text} [{number(figures['min'], line['unit'])}..{number(figures['max'], line['unit'])}]"


def median(line, who):
    return line["figures"].get(who, {}).get("median")


def of_bare(line):
    ours, limit = median(line, "owed"), median(line, "bare")
    return f"{100 * ours / limit:.0f} %" if ours and limit else "-"


def of_best_peer(line):
    """How many times as good as the better peer: faster, or sooner."""
    ours = median(line, "owed")
    peers = [value for value in (median(line, "graphile"), median(line, "pgboss")) if value]
    if not ours or not peers:
        return "-"
    return f"{min(peers) / ours if line['unit'] == 'ms' else max(ours / value for value in [max(peers)]):.1f}x"


HEAD = ("what", "owed", "bare loop", "of the bare loop", "graphile-worker", "pg-boss", "to the better peer")


def cells(line):
    unit = "ms" if line["unit"] == "ms" else "a second"
    return [f"{STORES[line['store']]}: {line['what']}, {unit}", cell(line, "owed"), cell(line, "bare"), of_bare(line),
            cell(line, "graphile"), cell(line, "pgboss"), of_best_peer(line)]


def table(rows):
    lines = ["| " + " | ".join(row) + " |" for row in rows]
    return [lines[0], "| --- |" + " ---: |" * (len(rows[0]) - 1), *lines[1:]]


def markdown(report):
    lines = ["# Measured side by side", "", *table([HEAD, *map(cells, report["lines"])]), ""]
    lines += [f"- {note}" for note in report["notes"]]
    lines += ["", "## Machine, versions, settings", ""]
    lines += [f"- {name}: {value}" for name, value in report["about"].items()]
    return "\n".join(lines) + "\n"


def short(report):
    """PostgreSQL alone, and medians alone: what the README shows."""
    rows = [("PostgreSQL, a second", "owed", "bare loop", "graphile-worker", "pg-boss")]
    for line in report["lines"]:
        if line["store"] == "postgres":
            figures = [number(median(line, who), line["unit"]) if median(line, who) else "-" for who in NAMES]
            rows.append((line["what"] + (", ms" if line["unit"] == "ms" else ""), *figures))
    return "\n".join(table(rows)) + "\n"


# --- the chart ---

WIDTH, LEFT, RIGHT, TOP, BAR, GAP = 860, 260, 90, 70, 15, 14


class Chart:
    """Horizontal bars, a group for each line: a share of the bare loop's rate."""

    def __init__(self, lines):
        self.lines = [line for line in lines if line["unit"] != "ms" and median(line, "bare") and median(line, "owed")]
        shares = [self.share(line, who) for line in self.lines for who in COLOURS]
        self.most = max([1.0, *filter(None, shares)]) * 1.02
        self.parts = []

    @staticmethod
    def share(line, who):
        value = median(line, who)
        return value / median(line, "bare") if value else None

    def x(self, share):
        return LEFT + share / self.most * (WIDTH - LEFT - RIGHT)

    def text(self, x, y, words, anchor="start", kind=""):
        self.parts.append(f'<text x="{x:.0f}" y="{y:.0f}" text-anchor="{anchor}" class="{kind}">{html.escape(words)}</text>')

    def group(self, line, y):
        """The bars of one line; answers where the next one starts."""
        bars = [(who, self.share(line, who)) for who in COLOURS if self.share(line, who)]
        self.text(LEFT - 10, y + len(bars) * BAR / 2 + 4, f"{STORES[line['store']]}: {line['what']}", "end")
        for who, share in bars:
            self.parts.append(f'<rect x="{LEFT}" y="{y}" width="{self.x(share) - LEFT:.1f}" height="{BAR - 2}"'
                              f' fill="{COLOURS[who]}"><title>{NAMES[who]}: {share:.0%}</title></rect>')
            self.text(self.x(share) + 5, y + BAR - 4, number(median(line, who), line["unit"]) + "/s", kind="small")
            y += BAR
        return y + GAP

    def axis(self, height):
        for percent in range(0, int(self.most * 100) + 1, 25):
            x = self.x(percent / 100)
            kind = "limit" if percent == 100 else "grid"
            self.parts.append(f'<line x1="{x:.1f}" y1="{TOP - 6}" x2="{x:.1f}" y2="{height}" class="{kind}"/>')
            self.text(x, height + 16, f"{percent} %", "middle", "small")
        self.text((LEFT + WIDTH - RIGHT) / 2, height + 34, "rate, as a share of a bare C loop's doing the same durable work",
                  "middle", "small")

    def legend(self):
        x = LEFT
        for who, colour in COLOURS.items():
            self.parts.append(f'<rect x="{x}" y="38" width="12" height="12" fill="{colour}"/>')
            self.text(x + 17, 48, NAMES[who])
            x += 30 + 8 * len(NAMES[who])

    def beneath(self, y, about):
        """Machine, versions and settings; answers where they end."""
        for name, value in about.items():
            for words in textwrap.wrap(f"{name}: {value}", 135, subsequent_indent="    "):
                self.text(12, y, words, kind="fine")
                y += 14
        return y

    def svg(self, title, about):
        y = TOP
        for line in self.lines:
            y = self.group(line, y)
        self.axis(y)
        self.legend()
        self.text(LEFT, 22, title, kind="title")
        height = self.beneath(y + 62, about)
        return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}"'
                f' role="img" aria-label="{html.escape(title)}">\n<style>{STYLE}</style>\n' + "\n".join(self.parts) + "\n</svg>\n")


def chart(report):
    return Chart(report["lines"]).svg("Events and deliveries a second, beside a bare C loop's", report["about"])
