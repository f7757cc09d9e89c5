import { textTable } from '../support/text-table.ts';
import { kindOf, type AlarmDefinition } from './alarm.ts';
import { NOT_HERE } from './alarm-cases.ts';
import type { Rung } from './ring.ts';

interface AlarmTable {
  readonly lines: readonly string[];
  /** Alarms that neither rang and fell silent, nor are like one that did, nor are known to be impossible here. */
  readonly failed: readonly string[];
}

export function alarmTable(alarms: readonly AlarmDefinition[], all: readonly Rung[]): AlarmTable {
  const failed: string[] = [];
  const good = new Map(all.filter(isGood).map((rung) => [kindOf(rung.alarm), rung]));
  const rows = alarms.map((alarm): readonly string[] => {
    const own = all.find((rung) => rung.alarm === alarm);
    const like = good.get(kindOf(alarm));
    const name = [alarm.section, alarm.what];
    if (own && isGood(own))
      return [...name, own.of.fault, secondsOf(own.rangAfter), own.of.fix, secondsOf(own.silentAfter)];
    const mustBeOwn = own?.of.each === true || (own && own.rangAfter !== undefined);
    if (like && !mustBeOwn) return [...name, `as ${like.alarm.what}`, '', '', ''];
    const reason = NOT_HERE[alarm.section];
    if (!own && reason !== undefined) return [...name, `impossible here: ${reason}`, '', '', ''];
    failed.push(`${alarm.section}: ${alarm.what}: ${why(own)}`);
    return [
      ...name,
      own?.of.fault ?? '',
      own ? secondsOf(own.rangAfter) : 'NO CASE',
      own?.of.fix ?? '',
      own ? secondsOf(own.silentAfter) : '',
    ];
  });
  const heading = ['section', 'alarm', 'fault', 'rang after', 'fix', 'silent after'];
  return { lines: textTable([heading, ...rows], [3, 5]), failed };
}

function isGood({ rangAfter, silentAfter, error }: Rung): boolean {
  return rangAfter !== undefined && silentAfter !== undefined && error === undefined;
}

function why(rung: Rung | undefined): string {
  if (!rung) return 'it has no case in test/alarms/alarm-cases.ts, nor a reason why it cannot ring here';
  if (rung.error !== undefined) return rung.error;
  return rung.rangAfter === undefined ? 'it did not ring' : 'it did not fall silent';
}

function secondsOf(seconds: number | undefined): string {
  return seconds === undefined ? 'NEVER' : `${seconds} s`;
}
