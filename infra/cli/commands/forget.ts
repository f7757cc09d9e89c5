import { text } from 'node:stream/consumers';
import type { Command } from 'commander';
import type { ForgottenSubject } from '../../../shared/api/subjects.ts';
import { command } from '../cli.ts';
import { badUsage } from '../errors.ts';
import { limitFlag } from '../flags.ts';
import type { Column } from '../output/output.ts';
import { pagesOf } from '../pages.ts';

interface ForgetFlags {
  readonly subject?: string;
  readonly name?: string;
  readonly reason: string;
  readonly yes?: true;
}

export function forget(): Command {
  return command('forget')
    .description('forget a subject permanently: all fields sealed under its key become unreadable')
    .option(
      '--subject <text>',
      'the value of the field that names it in bodies; - for standard input, to keep it out of the shell history',
    )
    .option('--name <digits>', 'instead, the `subject_name` of a record: after the table of keys was restored')
    .requiredOption('--reason <text>', 'stored permanently and shown: write no personal data')
    .option('--yes', 'without asking')
    .examples(
      [`schemaless forget --subject c3a8f1d2-5b6e-4f70-9a81-2d3c4b5a6978 --reason 'request 4711'`, 'a rider'],
      [
        `schemaless forget --name 3b1f6c0d9e2a47588c1d0f3e5a6b7c8d --reason 'request 4711' --yes`,
        'again, by its record',
      ],
    )
    .notes(`Prints the record: keep it. \`had_key\` is false if there was no key to delete: then check the spelling of the subject
against bodies. Unsealed fields stay: \`schemaless erase\` removes them.`)
    .run<[], ForgetFlags>(async (session, _none, { subject, name, reason, yes }) => {
      if ((subject === undefined) === (name === undefined))
        throw badUsage('--subject', 'either --subject or --name', subject === undefined ? 'neither' : 'both');
      if (!(await session.confirmed('Forget this subject forever?', yes, 'nothing was forgotten'))) return undefined;
      const api = await session.api();
      const given = subject === '-' ? (await text(process.stdin)).trim() : subject;
      const named = given === undefined ? { subject_name: name ?? '' } : { subject: given };
      const record = await api.forgetSubject({ ...named, reason });
      if (!record.had_key)
        session.note('no key of this subject was there: it has no sealed fields, or another spelling');
      return session.output.record(record);
    });
}

export function forgotten(): Command {
  return command('forgotten')
    .description('list the records of forgotten subjects, in no order')
    .addOption(limitFlag('records'))
    .examples(
      ['schemaless forgotten', 'all of them'],
      ['schemaless forgotten --format ndjson > forgotten.ndjson', 'a copy, for a restore to a point in time'],
    )
    .run<[], { readonly limit?: number | undefined }>(async (session, _none, { limit }) => {
      const { listForgotten } = await session.api();
      await session.output.list(
        pagesOf(listForgotten, {}, ({ subjects }) => subjects, limit),
        COLUMNS,
      );
    });
}

const COLUMNS: readonly Column<ForgottenSubject>[] = [
  { header: 'SUBJECT NAME', value: ({ subject_name }) => subject_name, width: 32 },
  { header: 'FORGOTTEN', value: ({ forgotten_at }) => forgotten_at.replace(/\.\d+/u, ''), width: 20 },
  { header: 'HAD KEY', value: ({ had_key }) => String(had_key), width: 7 },
  { header: 'BY', value: ({ requested_by }) => requested_by, wide: true },
  { header: 'KEY IN BACKUPS UNTIL', value: ({ key_in_backups_until }) => key_in_backups_until, width: 24 },
  { header: 'REASON', value: ({ reason }) => reason },
];
