# SPDX-License-Identifier: Apache-2.0
"""Makes schedules/: learning rates and rows grouped by length as transformers gives them.

rates.json: transformers.get_scheduler, step by step, for each schedule over several numbers of steps and of warm-up.
length_groups.json: trainer_pt_utils.get_length_grouped_indices with the permutation it drew.
"""

import common

common.one_thread()

import torch  # noqa: E402
from transformers import get_scheduler  # noqa: E402
from transformers.trainer_pt_utils import get_length_grouped_indices  # noqa: E402

FOLDER = common.HERE / "schedules"
BASE_RATE, MIN_RATE = 2e-4, 0.1
NAMES = {"linear": "linear", "cosine": "cosine", "cosine-min": "cosine_with_min_lr", "constant": "constant_with_warmup",
         "inverse-sqrt": "inverse_sqrt"}
LENGTHS = [(1, 0), (1, 1), (7, 0), (7, 2), (10, 3), (100, 0), (100, 10), (250, 249)]  # steps, warm-up
MOST_VALUES = 60


def rates(name: str, steps: int, warmup: int) -> list[float]:
    """The rate used in each step, and one step beyond the end."""
    optimizer = torch.optim.SGD([torch.nn.Parameter(torch.zeros(1))], lr=BASE_RATE)
    if name == "constant" and warmup == 0:
        schedule = get_scheduler("constant", optimizer)
    else:
        extra = {"min_lr_rate": MIN_RATE} if name == "cosine-min" else None
        schedule = get_scheduler(NAMES[name], optimizer, num_warmup_steps=warmup, num_training_steps=steps,
                                 scheduler_specific_kwargs=extra)
    values = []
    for _ in range(steps + 1):
        values.append(schedule.get_last_lr()[0])
        optimizer.step()
        schedule.step()
    return values


def rate_cases() -> list[dict]:
    cases = []
    for name in NAMES:
        for steps, warmup in LENGTHS:
            values = rates(name, steps, warmup)
            stride = -(-len(values) // MOST_VALUES)
            kept = sorted({*range(0, len(values), stride), warmup, len(values) - 1})
            cases.append({"schedule": name, "steps": steps, "warmup_steps": warmup, "at": kept,
                          "rates": [values[i] for i in kept]})
    return cases


def group_cases() -> list[dict]:
    cases = []
    for rows, batch in ((1, 4), (5, 8), (33, 4), (200, 2), (600, 1)):
        generator = torch.Generator().manual_seed(rows)
        lengths = torch.randint(1, 40, (rows,), generator=generator).tolist()
        state = generator.get_state()
        order = torch.randperm(rows, generator=generator).tolist()
        generator.set_state(state)
        cases.append({"batch": batch, "lengths": lengths, "order": order,
                      "grouped": get_length_grouped_indices(lengths, batch, generator=generator)})
    return cases


def main() -> None:
    versions = common.versions("torch", "transformers")
    common.write_json(FOLDER / "rates.json", {"made_by": "make_schedules.py", "versions": versions,
                                              "base_rate": BASE_RATE, "min_rate": MIN_RATE, "cases": rate_cases()},
                      compact=True)
    common.write_json(FOLDER / "length_groups.json", {"made_by": "make_schedules.py", "versions": versions,
                                                      "cases": group_cases()}, compact=True)


if __name__ == "__main__":
    main()
