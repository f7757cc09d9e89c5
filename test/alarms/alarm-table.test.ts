import { expect, it } from 'vitest';
import type { AlarmDefinition } from './alarm.ts';
import { alarmTable } from './alarm-table.ts';
import type { AlarmCase, Rung } from './ring.ts';
import { someAlarm } from './some-alarm.ts';

const of: AlarmCase = {
  sections: [],
  fault: 'a fault',
  fix: 'a repair',
  breaks: async () => async () => undefined,
};
const rung = (alarm: AlarmDefinition, more: Partial<Rung> = {}): Rung => ({
  alarm,
  of,
  rangAfter: 61,
  silentAfter: 5,
  error: undefined,
  ...more,
});

it('an alarm rang and fell silent, or one of its kind did, or it cannot ring here; anything else fails', () => {
  const [one, like, other] = ['one', 'like', 'other'].map((what) => someAlarm(what));
  const alone = someAlarm('alone', { section: 'circuits' });
  const cpu = someAlarm('busy', { section: 'group-cpu' });
  if (!one || !like || !other) throw new Error('wanted three alarms');
  const { lines, failed } = alarmTable(
    [one, like, alone, cpu],
    [rung(one), rung(like, { rangAfter: undefined, silentAfter: undefined })],
  );
  expect(lines.slice(1, 3)).toEqual([
    expect.stringMatching(/^trigger-behind +one +a fault +61 s +a repair +5 s$/u),
    expect.stringMatching(/^trigger-behind +like +as one$/u),
  ]);
  expect(lines[4]).toMatch(/^group-cpu +busy +impossible here: all servers/u);
  expect(failed).toEqual([expect.stringMatching(/^circuits: alone: it has no case/u)]);
  const failures = (...all: readonly Rung[]): readonly string[] => alarmTable([other], all).failed;
  expect(failures(rung(other, { rangAfter: undefined }))).toEqual(['trigger-behind: other: it did not ring']);
  expect(failures(rung(other, { silentAfter: undefined }))).toEqual(['trigger-behind: other: it did not fall silent']);
  expect(failures(rung(other, { error: 'no queue' }))).toEqual(['trigger-behind: other: no queue']);
  expect(failures(rung(one), rung(other, { silentAfter: undefined }))).toHaveLength(1);
  expect(failures(rung(one), rung(other, { rangAfter: undefined }))).toEqual([]);
  expect(failures(rung(one), rung(other, { rangAfter: undefined, of: { ...of, each: true } }))).toHaveLength(1);
});
