"""Distributed data parallel training in PyTorch, with two processes."""

import numpy as np
import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

WORKERS = 2


def worker(rank, rendezvous):
    dist.init_process_group(
        "gloo", init_method=rendezvous, rank=rank, world_size=WORKERS
    )
    x = np.random.default_rng(0).normal(size=(96, 3)).astype(np.float32)
    y = x @ np.array([1, 2, 3], np.float32) + np.float32(0.5)
    rows = TensorDataset(torch.from_numpy(x), torch.from_numpy(y))
    sampler = DistributedSampler(rows, shuffle=False)
    loader = DataLoader(rows, batch_size=32 // WORKERS, sampler=sampler)

    model = torch.nn.Linear(3, 1)
    torch.nn.init.zeros_(model.weight)
    torch.nn.init.zeros_(model.bias)
    model = DistributedDataParallel(model)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.03, momentum=0.9)

    for epoch in range(3):
        sampler.set_epoch(epoch)
        for x, y in loader:
            optimizer.zero_grad()
            loss = torch.nn.functional.mse_loss(model(x)[:, 0], y)
            loss.backward()  # averages the gradients over the workers
            optimizer.step()

    dist.all_reduce(loss)
    if rank == 0:
        slope = model.module.weight.detach().numpy()[0]
        print("loss", f"{loss.item() / WORKERS:.3f}")
        print("slope", slope.round(3), "offset", f"{model.module.bias.item():.3f}")
    dist.destroy_process_group()


if __name__ == "__main__":
    import tempfile

    rendezvous = f"file://{tempfile.mkdtemp()}/rendezvous"
    mp.spawn(worker, (rendezvous,), nprocs=WORKERS)
