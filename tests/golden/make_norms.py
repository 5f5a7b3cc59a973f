# SPDX-License-Identifier: Apache-2.0
"""Makes norms/norms.safetensors: LayerNorm, GELU's tanh form and Gemma's RMSNorm with their gradients, by PyTorch and
transformers in float64, on inputs that float32 holds exactly."""

import common

common.one_thread()

import torch  # noqa: E402
from transformers.models.gemma.modeling_gemma import GemmaRMSNorm  # noqa: E402

FOLDER = common.HERE / "norms"
ROWS, WIDTH, EPSILON = 5, 37, 1e-5


def normal(shape, seed: int, scale: float = 1.0) -> torch.Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed)) * scale


def with_gradient(function, x: torch.Tensor, dy: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """function(x) and the gradient of <function(x), dy>, rounded to float32."""
    x = x.double().requires_grad_()
    y = function(x)
    y.backward(dy.double())
    return y.detach().float(), x.grad.float()


def gemma_norm(weight: torch.Tensor):
    """transformers computes this norm in float32 whatever comes in: its own formula, kept in float64."""
    norm = GemmaRMSNorm(WIDTH, eps=EPSILON)
    norm.weight.data = weight.double()
    return lambda x: norm._norm(x) * (1.0 + norm.weight)


def main() -> None:
    x, dy = normal((ROWS, WIDTH), 1, 2.0) + 0.7, normal((ROWS, WIDTH), 2)
    weight, bias = normal((WIDTH,), 3), normal((WIDTH,), 4)
    points = torch.cat([normal((ROWS - 1, WIDTH), 5, 3.0).flatten(), torch.linspace(-12, 12, WIDTH)])
    points = points.reshape(ROWS, WIDTH)
    tensors = {"x": x, "dy": dy, "weight": weight, "bias": bias, "gelu.x": points}
    layer = lambda v: torch.nn.functional.layer_norm(v, (WIDTH,), weight.double(), bias.double(), EPSILON)  # noqa: E731
    gelu = lambda v: torch.nn.functional.gelu(v, approximate="tanh")  # noqa: E731
    for name, function, data in (("layer_norm", layer, x), ("gemma_rms_norm", gemma_norm(weight), x),
                                 ("gelu", gelu, points)):
        tensors[f"{name}.y"], tensors[f"{name}.dx"] = with_gradient(function, data, dy)
    common.save_tensors(FOLDER / "norms.safetensors", tensors)
    common.write_json(FOLDER / "meta.json", {"made_by": "make_norms.py", "epsilon": EPSILON,
                                             "versions": common.versions("torch", "transformers", "safetensors")})


if __name__ == "__main__":
    main()
