import type { Command } from 'commander';
import { command, commandGroup } from '../cli.ts';
import { CommandError } from '../errors.ts';
import type { Column } from '../output/output.ts';
import type { GlobalFlags } from '../session.ts';
import {
  checkProfile,
  checkProfileName,
  findProfile,
  profilesFile,
  readProfiles,
  writeProfiles,
  type Profile,
} from '../target/profiles.ts';

export function profile(): Command {
  return commandGroup('profile', 'list and choose APIs', [list(), show(), set(), remove(), current()]);
}

interface Listed extends Profile {
  readonly name: string;
  readonly current: boolean;
}

function list(): Command {
  return command('list')
    .description('list the profiles')
    .examples(['schemaless profile list', 'all of them; * marks the current one'])
    .run<[]>(async ({ output }) => {
      const { current, profiles } = readProfiles(profilesFile(process.env));
      const rows = Object.entries(profiles).map(([name, one]) => ({ name, current: name === current, ...one }));
      await output.list<Listed>([rows], COLUMNS);
    });
}

function show(): Command {
  return command('show')
    .description('show a profile; without a name the API that commands use, and why')
    .argument('[name]', 'of the profile')
    .examples(
      ['schemaless profile show prod', 'its entry in the file'],
      ['schemaless profile show', 'the current choice'],
    )
    .run<[name: string | undefined]>(async ({ output, target }, [name]) => {
      if (name !== undefined) return output.record({ name, ...findProfile(profilesFile(process.env), name) });
      const { awsProfile: aws_profile, ...chosen } = await target();
      return output.record({ ...chosen, aws_profile });
    });
}

function set(): Command {
  return command('set')
    .description('create or change a profile with --url, --datastore, --sign, --region, --aws-profile')
    .argument('<name>', 'of the profile')
    .option('--aws-profile <name>', 'the profile of AWS whose credentials sign')
    .option('--current', 'make it the current one')
    .examples(
      ['schemaless profile set local --url http://127.0.0.1:4000 --datastore trips', 'a local stack'],
      ['schemaless profile set prod --url https://a1b2c3.execute-api.eu-central-1.amazonaws.com --current', 'signs'],
      ['schemaless profile set prod --aws-profile operator', 'changes one thing'],
    )
    .run<[name: string], GlobalFlags & { readonly awsProfile?: string; readonly current?: true }>(
      async ({ output, note }, [given], flags) => {
        const name = checkProfileName(given);
        const file = profilesFile(process.env);
        const { current: before, profiles } = readProfiles(file);
        const { url, datastore, sign, region, awsProfile: aws_profile } = flags;
        const specified = Object.entries({ url, datastore, sign, region, aws_profile }).filter(
          ([, one]) => one !== undefined,
        );
        const old = Object.hasOwn(profiles, name) ? profiles[name] : {};
        const changed = checkProfile({ ...old, ...Object.fromEntries(specified) }, name);
        const isFirst = Object.keys(profiles).length === 0;
        writeProfiles(file, {
          current: flags.current === true || isFirst ? name : before,
          profiles: { ...profiles, [name]: changed },
        });
        await output.record({ name, ...changed });
        if (isFirst)
          note(`${name} is the current profile, as the first one: schemaless profile current --none undoes it`);
      },
    );
}

function remove(): Command {
  return command('remove')
    .description('remove a profile')
    .argument('<name>', 'of the profile')
    .examples(['schemaless profile remove old', ''])
    .run<[name: string]>(async ({ output }, [name]) => {
      const file = profilesFile(process.env);
      const removed = findProfile(file, name);
      const { current: before, profiles } = readProfiles(file);
      const { [name]: _removed, ...left } = profiles;
      writeProfiles(file, { current: before === name ? undefined : before, profiles: left });
      await output.record({ name, ...removed });
    });
}

function current(): Command {
  return command('current')
    .description('print the current profile, which applies if none is named; with a name, choose that one')
    .argument('[name]', 'of the profile')
    .option('--none', 'choose no profile')
    .examples(
      ['schemaless profile current', 'its name'],
      ['schemaless profile current prod', 'chooses it'],
      ['schemaless profile current --none', 'commands use the local stack again'],
    )
    .run<[name: string | undefined], { readonly none?: true; readonly profile?: string }>(
      async ({ output }, [name], { none, profile: ofFlag }) => {
        const file = profilesFile(process.env);
        if (name !== undefined || none === true) return choose(file, name);
        const ofEnvironment = process.env['SCHEMALESS_PROFILE'];
        const holds = ofFlag ?? (ofEnvironment === '' ? undefined : ofEnvironment) ?? readProfiles(file).current;
        if (holds === undefined)
          throw new CommandError('profile: none is the current one', {
            ending: 'notFound',
            fix: 'Choose one: schemaless profile current NAME',
          });
        return output.text(`${holds}\n`);
      },
    );
}

function choose(file: string, name: string | undefined): void {
  if (name !== undefined) findProfile(file, name);
  writeProfiles(file, { ...readProfiles(file), current: name });
}

const COLUMNS: readonly Column<Listed>[] = [
  { header: 'NAME', value: (one) => `${one.current ? '*' : ' '} ${one.name}` },
  { header: 'DATASTORE', value: ({ datastore }) => datastore },
  { header: 'SIGN', value: ({ sign }) => sign },
  { header: 'REGION', value: ({ region }) => region },
  { header: 'AWS PROFILE', value: ({ aws_profile }) => aws_profile },
  { header: 'URL', value: ({ url }) => url },
];
