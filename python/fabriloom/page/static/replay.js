// Packets moving through the drawn fabric.
export class Replay {
  constructor(root, fabric) { this.root = root; this.fabric = fabric; }
  clear() {}
  load() {}
}
