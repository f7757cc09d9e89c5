import { grouped } from '../../support/text-table.ts';
import type { Aftermath } from '../aftermath.ts';
import type { Check } from '../fault-run.ts';
import type { AcksControls } from './acks-controls.ts';
import type { Judged } from './judge-answers.ts';
import type { KeptConflicts } from './kept-conflicts.ts';

const LEAST_CELLS = 5000;

/** Everybody was told the truth in the end. */
export function toldCheck({ untold, open }: Judged, control: Pick<AcksControls, 'untold' | 'ofCells'>): Check {
  return {
    what: 'cells on the primary whose writer was told less; nothing certain; control: no second try',
    figure: `${untold}; ${open}`,
    bar: '0; 0',
    passed: untold + open === 0,
    control: { figure: `${grouped(control.untold)} of ${grouped(control.ofCells)}`, failed: control.untold > 0 },
  };
}

/**
 * What was told is there, once and as it was written.
 *
 * @param isBroken whether answers were really cut off
 */
export function wholeCheck(
  { aftermath, judged, conflicts }: { readonly aftermath: Aftermath; readonly judged: Judged; readonly conflicts: KeptConflicts },
  { doubled, untrue: lies }: Pick<AcksControls, 'doubled' | 'untrue'>,
  isBroken: boolean,
): Check {
  const { doubled: twice = 0, ...others } = aftermath.faults;
  const untrue = judged.untrue + conflicts.wrong;
  const rest = Object.values(others).reduce((sum, count) => sum + count, 0);
  return {
    what: 'acknowledged cells lost, doubled; answers untrue; other faults; control: no unique key',
    figure: `${aftermath.lost}, ${twice}; ${untrue}; ${rest} of ${grouped(aftermath.acked)}`,
    bar: `0, 0; 0; 0 of at least ${grouped(LEAST_CELLS)}`,
    passed: aftermath.lost + twice + untrue + rest === 0 && aftermath.acked >= LEAST_CELLS && isBroken,
    control: { figure: `${grouped(doubled)} doubled, ${grouped(lies)} untrue`, failed: doubled > 0 && lies > 0 },
  };
}
