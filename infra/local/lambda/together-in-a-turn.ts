/**
 * Collects the items of one turn of the event loop into one list. Ten calls then cost one message, and can share
 * statements.
 */
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
