/**
 * Hands on what comes in one turn of the event loop as one list, at the turn's end: a message between threads costs the
 * same for one call as for ten, and those that arrive together can share statements.
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
