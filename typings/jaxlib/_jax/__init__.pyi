from typing import Any

class Device:
    id: int
    process_index: int
    platform: str
    device_kind: str
    client: Any
    def __getattr__(self, name: str) -> Any: ...

def __getattr__(name: str) -> Any: ...
