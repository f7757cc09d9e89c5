import { equalJson } from '../../../shared/body/equal.ts';
import type { Cell, NewCell, PutResult } from '../../../shared/cell.ts';
import type { Found } from '../../../shared/contract/datastore.ts';
import { addressKey, type Chronicle } from './world/chronicle.ts';
import { valueOf } from './servers/tables.ts';

/** What no client may ever see, whatever happens to the servers: looked at as it is answered. */
export interface Judge {
  readonly broken: string[];
  breaks(what: string): void;
  put(cell: NewCell, result: PutResult): void;
  /** @param acked writes of the same cell that were answered before this read was sent */
  read(wanted: NewCell, found: Found, acked: readonly PutResult[], minimum: number | undefined): void;
  /** A cell that came out of the store. */
  cell(cell: Cell, where: string): void;
}

export function openJudge(chronicle: Chronicle): Judge {
  const broken: string[] = [];
  const breaks = (what: string): void => void broken.push(what);
  const nameOf = ({ row_key, column_name, ref_key }: NewCell | Cell): string =>
    `${row_key.slice(0, 8)}/${column_name}/${ref_key}`;

  /** Appended cells that an answer may mean. */
  function meant(cell: NewCell, shard: number, addedId: number) {
    const address = addressKey(cell);
    return chronicle.appendedAt(shard, addedId).filter((one) => one.cell.address === address);
  }

  function showed(cell: Cell, where: string): void {
    if (!meant(cell, cell.shard, cell.added_id).some((one) => equalJson(valueOf(one.cell.body), cell.body)))
      breaks(`${where} showed ${nameOf(cell)} at ${cell.added_id} of shard ${cell.shard}, where it never was`);
  }

  return {
    broken,
    breaks,
    put(cell, result) {
      chronicle.answered(cell, result);
      const name = nameOf(cell);
      const acknowledged = chronicle.acknowledged(addressKey(cell));
      if (
        (result.outcome === 'stored' || result.outcome === 'stored_before') &&
        acknowledged &&
        !equalJson(acknowledged.body, cell.body)
      )
        breaks(`${name} was answered ${result.outcome}, where another body had been acknowledged`);
      if (result.outcome === 'buffered' && chronicle.copiesOf(cell) < result.copies)
        breaks(`${name} was answered buffered with ${result.copies} copies, and had ${chronicle.copiesOf(cell)}`);
      if (result.outcome === 'conflict' && result.added_id === undefined)
        breaks(`${name} was answered conflict, and nobody knows with what`);
      else if (result.outcome === 'stored' || result.outcome === 'stored_before' || result.outcome === 'conflict') {
        const there = meant(cell, result.shard, result.added_id ?? 0);
        const same = there.filter((one) => equalJson(valueOf(one.cell.body), cell.body));
        const other = there.filter((one) => !same.includes(one));
        if (result.outcome === 'conflict' && other.length === 0)
          breaks(`${name} was answered conflict with ${result.added_id}, where no other body ever was`);
        if (result.outcome !== 'conflict' && same.length === 0)
          breaks(`${name} was answered ${result.outcome} at ${result.added_id}, where it never was`);
        else if (result.outcome === 'stored') {
          const unclaimed = same.find(({ claims }) => claims === 0);
          if (unclaimed) unclaimed.claims += 1;
          else breaks(`${name} was answered stored twice, at ${result.added_id}`);
        }
      }
    },
    read(wanted, { cell, served_by, stale }, acked, minimum) {
      if (cell) showed(cell, 'a read');
      const shard = cell?.shard ?? acked.find((result) => result.shard >= 0)?.shard ?? -1;
      // Where cells were lost or a shard has moved, what is acknowledged may be away for a while.
      if (chronicle.moves.has(shard) || chronicle.appendedTo(addressKey(wanted)).some(({ isLost }) => isLost)) return;
      const isAcked = acked.some(({ outcome }) => outcome === 'stored' || outcome === 'stored_before');
      if (!cell && !stale && isAcked)
        breaks(
          `${nameOf(wanted)} was acknowledged, and then not to be read from the ${served_by}${minimum === undefined ? '' : ` that has reached ${minimum}`}`,
        );
    },
    cell: showed,
  };
}
