/** A stack to be killed: starts a group on the folder given, promotes its reader, writes on it, says so, and waits. */
import { setInterval } from 'node:timers';
import { startShardGroups } from '../../../../infra/local/mysql/shard-groups.ts';
import { ask, firstGroup, settled, smallGroups } from './with-shard-groups.ts';

const groups = await startShardGroups(smallGroups(process.argv[2] ?? ''));
const group = firstGroup(groups);
await groups.promote('group-1');
await ask(group, group.writerEndpoint, 'CREATE DATABASE d');
await ask(group, group.writerEndpoint, 'CREATE TABLE d.t (id INT PRIMARY KEY)');
await ask(group, group.writerEndpoint, 'INSERT INTO d.t VALUES (1)');
await settled(groups);
process.stdout.write('ready\n');
setInterval(() => {}, 1000);
