/** Collects one turn's items into one list: ten calls cost one message and share statements. */
export function togetherInATurn<Item>(handOn: (items: Item[]) => void): (item: Item) => void {
  let waiting: Item[] = [];
  return (item) => {
    waiting.push(item);
    if (waiting.length > 1) return;
    setImmediate(() => {
      const items = waiting;
      waiting = [];
      handOn(items);
    });
  };
}
