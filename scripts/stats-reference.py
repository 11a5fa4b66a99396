#!/usr/bin/env python3
"""Writes coordinator/src/stats/fixtures/reference.json: figures by other people's code, which the tests compare with ours.

    python3 -m venv venv && venv/bin/pip install numpy scipy statsmodels && venv/bin/python scripts/stats-reference.py

R (r-base-core) has to be installed as well: base R's mantelhaen.test is the reference of the exact stratified test. What no
package offers is computed here another way than in the product: by matrices, root finding or brute force.
"""

import itertools
import json
import math
import pathlib
import subprocess

import numpy as np
import scipy
import statsmodels
from scipy import optimize, special, stats
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.proportion import confint_proportions_2indep, proportion_confint

Z = stats.norm.ppf(0.975)
random = np.random.default_rng(20261130)


def counts(k, lowest=5, highest=12, rate=0.8):
    """k test cases, [passed, total] each."""
    totals = random.integers(lowest, highest + 1, k)
    return [[int(random.binomial(n, min(1.0, max(0.0, random.normal(rate, 0.2))))), int(n)] for n in totals]


def wilson():
    cells = [[0, 2], [10, 10], [34, 40], [32, 40], [1, 24], [9, 24], [3, 7], [999, 1000], [0, 1], [120, 500]]
    return [{"cell": c, "range": list(proportion_confint(*c, method="wilson"))} for c in cells]


def fisher():
    tables = [([34, 40], [40, 40]), ([34, 40], [32, 40]), ([1, 24], [24, 24]), ([3, 10], [9, 12]), ([0, 5], [5, 5])]
    tables += [(counts(1)[0], counts(1, 20, 60, 0.6)[0]) for _ in range(20)]
    tables += [([300, 400], [350, 420])]
    return [
        {"a": a, "b": b, "p": stats.fisher_exact([[a[0], a[1] - a[0]], [b[0], b[1] - b[0]]]).pvalue} for a, b in tables
    ]


def newcombe():
    tables = [([48, 80], [56, 70]), ([3, 10], [9, 10]), ([10, 10], [10, 10]), ([34, 40], [40, 40]), ([0, 20], [10, 10])]
    tables += [(counts(1)[0], counts(1)[0]) for _ in range(10)]
    return [
        {"a": a, "b": b, "range": list(confint_proportions_2indep(b[0], b[1], a[0], a[1], method="newcomb"))}
        for a, b in tables
    ]


def pairs(k, rate_a, rate_b):
    return [{"a": a, "b": b} for a, b in zip(counts(k, rate=rate_a), counts(k, rate=rate_b))]


def stratified():
    """Base R, mantelhaen.test(exact = TRUE): it wants no stratum in which nothing could differ."""
    found = []
    for k, a, b in [(2, 0.5, 0.7), (5, 0.9, 0.6), (12, 0.8, 0.8), (12, 0.85, 0.7), (30, 0.7, 0.8)]:
        cases = pairs(k, a, b)
        cells = []
        for case in cases:
            (pa, na), (pb, nb) = case["a"], case["b"]
            cells += [pa, pb, na - pa, nb - pb]
        code = f"x <- array(c({','.join(map(str, cells))}), c(2, 2, {k})); cat(format(mantelhaen.test(x, exact = TRUE)$p.value, digits = 15))"
        p = subprocess.run(["Rscript", "-e", code], check=True, capture_output=True, text=True).stdout
        found.append({"pairs": cases, "p": float(p)})
    return found


def klingenberg():
    """Both ends as roots of the score equation with Sato's variance."""
    found = []
    for k, a, b in [(1, 0.5, 0.7), (5, 0.9, 0.6), (12, 0.8, 0.7), (40, 0.6, 0.65)]:
        cases = pairs(k, a, b)
        y2, n2 = np.array([c["a"] for c in cases], float).T
        y1, n1 = np.array([c["b"] for c in cases], float).T
        n = n1 + n2
        w = n1 * n2 / n
        estimate = float(np.sum(w * (y1 / n1 - y2 / n2)) / np.sum(w))
        p = np.sum((n1**2 * y2 - n2**2 * y1 + n1 * n2 * (n2 - n1) / 2) / n**2)
        q = np.sum((y1 * (n2 - y2) + y2 * (n1 - y1)) / (2 * n))
        score = lambda d: (estimate - d) ** 2 - Z**2 * (d * p + q) / np.sum(w) ** 2
        found.append(
            {
                "pairs": cases,
                "estimate": estimate,
                "range": [optimize.brentq(score, -3, estimate), optimize.brentq(score, estimate, 3)],
            }
        )
    return found


def wilson_at(p, n, z):
    middle, half = p + z * z / (2 * n), z * math.sqrt(p * (1 - p) / n + z * z / (4 * n * n))
    return (middle - half) / (1 + z * z / n), (middle + half) / (1 + z * z / n)


def stratified_wilson():
    """The equation of Yan and Su (2010), with n - 1 + 1/K for n, by root finding in the quantile."""
    found = []
    for k in (2, 5, 12, 40):
        cells = counts(k)
        p, n = np.array([c[0] / c[1] for c in cells]), np.array([c[1] for c in cells], float)
        alike = wilson_at(np.mean(p), k * k / np.sum(1 / n), Z)
        n = n - 1 + 1 / k

        def ends(z, sign):
            return (p + z * z / (2 * n) + sign * z * np.sqrt(p * (1 - p) / n + z * z / (4 * n * n))) / (1 + z * z / n)

        def end(sign):
            def excess(z):
                e = np.clip(ends(z, sign), 0, 1)
                return abs(np.mean(p) - np.mean(e)) - Z * np.sqrt(np.sum(e * (1 - e) / n)) / k

            return float(np.mean(ends(optimize.brentq(excess, 1e-6, 4 * Z, xtol=1e-14), sign)))

        found.append({"cells": cells, "rate": float(np.mean(p)), "range": [max(end(-1), alike[0]), min(end(+1), alike[1])]})
    return found


def cr2():
    """CR2 and Satterthwaite's degrees of freedom with whole matrices, an iteration a row."""
    found = []
    for k, lowest, highest in [(6, 10, 10), (7, 3, 12), (12, 5, 12), (20, 1, 30)]:
        cells = counts(k, lowest, highest)
        y = np.concatenate([[1.0] * c + [0.0] * (n - c) for c, n in cells])
        case = np.concatenate([[i] * n for i, (_, n) in enumerate(cells)])
        weights = np.concatenate([[1 / n] * n for _, n in cells])
        x = np.ones((len(y), 1))
        bread = np.linalg.inv(x.T @ np.diag(weights) @ x)
        hat = x @ bread @ x.T @ np.diag(weights)
        left = np.eye(len(y)) - hat
        residuals = left @ y
        rows, variance = [], 0.0
        for i in range(k):
            own = case == i
            inner = left[own] @ left[own].T
            values, vectors = np.linalg.eigh(inner)
            inverse_root = vectors @ np.diag([v**-0.5 if v > 1e-10 else 0.0 for v in values]) @ vectors.T
            row = (bread @ x[own].T @ np.diag(weights[own]) @ inverse_root).ravel()
            variance += float(row @ residuals[own]) ** 2
            rows.append(row @ left[own])
        gram = np.array(rows) @ np.array(rows).T
        degrees = np.trace(gram) ** 2 / np.sum(gram**2)
        found.append({"cells": cells, "variance": variance, "degrees": degrees, "t": stats.t.ppf(0.975, degrees)})
    return found


def pass_hat_k():
    found = []
    for k in (1, 3, 5):
        cells = counts(8)
        found.append(
            {"cells": cells, "k": k, "estimate": float(np.mean([math.comb(c, k) / math.comb(n, k) for c, n in cells]))}
        )
    return found


def sign_flip():
    found = []
    for m in (3, 6, 9, 12):
        differences = [round(float(d), 2) for d in random.normal(0.1, 0.15, m)]
        flips = [abs(sum(s * d for s, d in zip(signs, differences))) for signs in itertools.product((1, -1), repeat=m)]
        found.append({"differences": differences, "p": float(np.mean(np.array(flips) >= abs(sum(differences)) - 1e-9))})
    return found


def many():
    found = []
    for m in (4, 15):
        p = [round(float(v), 4) for v in random.beta(0.5, 2, m)]
        found.append(
            {
                "p": p,
                "holm": multipletests(p, method="holm")[1].tolist(),
                "leads": multipletests(p, method="fdr_bh")[1].tolist(),
            }
        )
    return found


def detectable():
    found = []
    for rate, n, other in [(0.9, 10, 10), (0.9, 20, 20), (0.9, 40, 40), (0.5, 30, 30), (0.8, 24, 15), (0.95, 100, 80)]:
        rejected = np.array(
            [
                [stats.fisher_exact([[a, n - a], [b, other - b]]).pvalue <= 0.05 * (1 + 1e-9) for b in range(other + 1)]
                for a in range(n + 1)
            ]
        )
        own = stats.binom.pmf(range(n + 1), n, rate)
        power = lambda p: own @ rejected @ stats.binom.pmf(range(other + 1), other, p) - 0.8
        found.append(
            {
                "rate": rate,
                "n": n,
                "other": other,
                "fall_to": optimize.brentq(power, 0, rate) if power(0) > 0 else None,
                "rise_to": optimize.brentq(power, rate, 1) if power(1) > 0 else None,
            }
        )
    return found


def sequence():
    found = []
    for passed, n in [(10, 10), (34, 40), (0, 7), (50, 100), (990, 1000)]:
        mixture = special.betaln(0.5 + passed, 0.5 + n - passed) - special.betaln(0.5, 0.5)
        excess = lambda p: mixture - special.xlogy(passed, p) - special.xlogy(n - passed, 1 - p) - math.log(20)
        share = passed / n
        low = 0.0 if passed == 0 else optimize.brentq(excess, 1e-12, share)
        high = 1.0 if passed == n else optimize.brentq(excess, share, 1 - 1e-12)
        found.append({"cell": [passed, n], "range": [low, high]})
    return found


figures = {
    "written_by": f"scripts/stats-reference.py with numpy {np.__version__}, scipy {scipy.__version__}, statsmodels {statsmodels.__version__}, base R",
    "wilson": wilson(),
    "fisher": fisher(),
    "newcombe": newcombe(),
    "stratified": stratified(),
    "klingenberg": klingenberg(),
    "stratified_wilson": stratified_wilson(),
    "cr2": cr2(),
    "pass_hat_k": pass_hat_k(),
    "sign_flip": sign_flip(),
    "many": many(),
    "detectable": detectable(),
    "sequence": sequence(),
}
path = pathlib.Path(__file__).parent.parent / "coordinator/src/stats/fixtures/reference.json"
path.parent.mkdir(exist_ok=True)
text = "{\n" + ",\n".join(
    f'  "{name}": '
    + (json.dumps(rows) if isinstance(rows, str) else "[\n    " + ",\n    ".join(map(json.dumps, rows)) + "\n  ]")
    for name, rows in figures.items()
)
path.write_text(text + "\n}\n")
