"""The machine: what differs between operating systems, in one room. Nothing else asks which one it runs on."""
