"""A training loop of PyTorch that Accelerate distributes."""

import numpy as np
import torch
from accelerate import Accelerator
from torch.utils.data import DataLoader, TensorDataset

accelerator = Accelerator(cpu=True)

x = np.random.default_rng(0).normal(size=(96, 3)).astype(np.float32)
y = x @ np.array([1, 2, 3], np.float32) + np.float32(0.5)
rows = TensorDataset(torch.from_numpy(x), torch.from_numpy(y))
loader = DataLoader(rows, batch_size=32 // accelerator.num_processes)

model = torch.nn.Linear(3, 1)
torch.nn.init.zeros_(model.weight)
torch.nn.init.zeros_(model.bias)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
model, optimizer, loader = accelerator.prepare(model, optimizer, loader)

for _ in range(3):
    for x, y in loader:
        optimizer.zero_grad()
        loss = torch.nn.functional.mse_loss(model(x)[:, 0], y)
        accelerator.backward(loss)
        optimizer.step()

loss = accelerator.reduce(loss.detach(), "mean")
model = accelerator.unwrap_model(model)
if accelerator.is_main_process:
    slope = model.weight.detach().numpy()[0]
    print("loss", f"{loss.item():.3f}")
    print("slope", slope.round(3), "offset", f"{model.bias.item():.3f}")
