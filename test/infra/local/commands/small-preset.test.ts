import { Command } from 'commander';
import { expect, it } from 'vitest';
import { startFlags, checkSmall, SMALL } from '../../../../infra/local/commands/flags.ts';

function flagsOf(...given: readonly string[]): Parameters<typeof checkSmall>[0] {
  const command = new Command();
  for (const flag of startFlags()) command.addOption(flag);
  return command.parse(given, { from: 'user' }).opts();
}

it('--small says what it stands for, in any order with flags that say the same', () => {
  for (const given of [['--small'], ['--small', '--readers', '0'], ['--groups', '3', '--small']]) {
    expect(flagsOf(...given)).toMatchObject(SMALL);
    expect(() => checkSmall(flagsOf(...given))).not.toThrow();
  }
  expect(() => checkSmall(flagsOf('--readers', '1'))).not.toThrow();
  // A folder that has more keeps them.
  expect(flagsOf('--small').groups).toBeUndefined();
});

it.each([
  [['--small', '--readers', '1'], '--readers: wanted 0, which --small stands for, got 1'],
  [['--groups', '1', '--small'], '--groups: wanted 3, which --small stands for, got 1'],
  [['--small', '--function-idle', '75'], '--function-idle: wanted 20, which --small stands for, got 75'],
])('%j is refused', (given, message) => {
  expect(() => checkSmall(flagsOf(...given))).toThrow(message);
});
