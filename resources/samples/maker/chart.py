# SPDX-License-Identifier: CC0-1.0
"""Draws the loss curve as a small SVG picture."""

import math

WIDTH, HEIGHT, LEFT, TOP, RIGHT, BOTTOM = 640, 300, 56, 40, 16, 44
COLOURS = {"train_loss": "#8a8f98", "valid_loss": "#1f7a5c"}
NAMES = {"train_loss": "training", "valid_loss": "held-out stories"}


def svg(curve):
    """curve: list of {step, tokens, train_loss, valid_loss}; the loss axis is logarithmic."""
    last = curve[-1]["tokens"]
    values = [row[key] for row in curve for key in COLOURS]
    low, high = math.log(min(values) * 0.95), math.log(max(values) * 1.05)

    def x(tokens):
        return LEFT + (WIDTH - LEFT - RIGHT) * tokens / last

    def y(loss):
        return TOP + (HEIGHT - TOP - BOTTOM) * (high - math.log(loss)) / (high - low)

    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif" '
             f'font-size="12"><title>Loss of the nest model</title><rect width="{WIDTH}" height="{HEIGHT}" fill="#fff"/>']
    for loss in (0.5, 0.6, 0.7, 0.8, 1.0, 1.2, 1.5, 2.0, 3.0, 4.0, 5.0, 6.0):
        if low < math.log(loss) < high:
            parts.append(f'<path d="M{LEFT} {y(loss):.1f}H{WIDTH - RIGHT}" stroke="#e3e5e8"/>'
                         f'<text x="{LEFT - 8}" y="{y(loss) + 4:.1f}" text-anchor="end">{loss}</text>')
    for quarter in range(5):
        tokens = last * quarter / 4
        parts.append(f'<text x="{x(tokens):.1f}" y="{HEIGHT - 24}" text-anchor="middle">{tokens / 1e6:.1f}</text>')
    parts.append(f'<text x="{(LEFT + WIDTH) / 2}" y="{HEIGHT - 6}" text-anchor="middle">million tokens</text>')
    for i, (key, colour) in enumerate(COLOURS.items()):
        points = " ".join(f"{x(row['tokens']):.1f},{y(row[key]):.1f}" for row in curve)
        parts.append(f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="2"/>'
                     f'<text x="{LEFT + 10 + 110 * i}" y="22" fill="{colour}">{NAMES[key]}</text>')
    return "".join(parts) + "</svg>\n"
