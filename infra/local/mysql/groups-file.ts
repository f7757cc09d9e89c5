import { randomInt } from 'node:crypto';
import { closeSync, existsSync, fsyncSync, openSync, readFileSync, renameSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import type { EngineKind, InstalledEngine } from '../../setup/engine.mjs';

export interface GroupRecord {
  writer: string;
  nodes: string[];
  /** Never reused in a group: each stands for one stretch of its history. */
  nextServerId: number;
  serverIds: Record<string, number>;
  /** Nodes whose log is not yet known to be part of the writer's: no reads, no promotion. */
  untrusted: string[];
  /** How often the group was restored. */
  restores?: number;
  /** The port of the group's forwarders; 0 at first. */
  port: number;
}

interface FileContent {
  engine: { kind: EngineKind; version: string };
  /** Forwarders listen at 127.second.third.x, so that stacks do not collide. */
  network: { second: number; third: number };
  groups: Record<string, GroupRecord>;
}

export interface WantedGroup {
  readonly name: string;
  readonly readers: number;
}

/** A data folder's engine, groups and roles; saved atomically and synced. */
export class GroupsFile {
  readonly #file: string;
  readonly #content: FileContent;

  /** Throws an Error for another engine, a newer version of it, or groups and nodes that are no longer wanted. */
  constructor(folder: string, engine: InstalledEngine, wanted: readonly WantedGroup[]) {
    this.#file = join(folder, 'groups.json');
    const { kind, version } = engine;
    this.#content = existsSync(this.#file)
      ? JSON.parse(readFileSync(this.#file, 'utf8'))
      : { engine: { kind, version }, network: { second: randomInt(1, 255), third: randomInt(0, 256) }, groups: {} };
    checkEngine(folder, this.#content.engine, engine);
    checkGroups(folder, this.#content.groups, wanted);
    this.#content.engine.version = version;
  }

  group(name: string): GroupRecord | undefined {
    return this.#content.groups[name];
  }

  /** The caller saves the file. */
  add(name: string, record: GroupRecord): void {
    this.#content.groups[name] = record;
  }

  /** 0 is the writer endpoint, 1 the reader endpoint, then one for each node. */
  address(group: string, nth: number): string {
    const { second, third } = this.#content.network;
    const position = Object.keys(this.#content.groups).indexOf(group);
    return `127.${second}.${(third + position) % 256}.${1 + nth}`;
  }

  save(): void {
    const next = `${this.#file}.next`;
    const descriptor = openSync(next, 'w', 0o600);
    writeSync(descriptor, `${JSON.stringify(this.#content, undefined, 2)}\n`);
    fsyncSync(descriptor);
    closeSync(descriptor);
    renameSync(next, this.#file);
  }
}

export function hasGroups(dataDir: string): boolean {
  return existsSync(fileIn(dataDir));
}

/** Throws an Error for a folder without groups. */
export function keptGroups(dataDir: string): readonly WantedGroup[] {
  if (!hasGroups(dataDir)) throw new Error(`${dataDir} has no servers: no stack was started there yet`);
  const { groups }: FileContent = JSON.parse(readFileSync(fileIn(dataDir), 'utf8'));
  return Object.entries(groups).map(([name, { nodes }]) => ({ name, readers: nodes.length - 1 }));
}

function fileIn(dataDir: string): string {
  return join(dataDir, 'groups', 'groups.json');
}

/** The first node becomes the writer. */
export function newGroup(nodes: readonly string[]): GroupRecord {
  const [writer = ''] = nodes;
  return { writer, nodes: [...nodes], nextServerId: 1, serverIds: {}, untrusted: [], port: 0 };
}

/** The caller saves the file. */
export function takeServerId(record: GroupRecord, node: string): number {
  const serverId = record.nextServerId;
  record.nextServerId = serverId + 1;
  record.serverIds[node] = serverId;
  return serverId;
}

function checkEngine(folder: string, kept: FileContent['engine'], engine: InstalledEngine): void {
  if (kept.kind !== engine.kind) {
    throw new Error(
      `engine: ${folder} was made by ${kept.kind} ${kept.version}, so wanted ${kept.kind}, got ${engine.kind} ${engine.version}; ` +
        'choose that engine, or another data folder',
    );
  }
  if (engine.version.localeCompare(kept.version, 'en', { numeric: true }) < 0) {
    throw new Error(
      `engine: ${folder} was last used by ${kept.kind} ${kept.version}, which ${engine.version} is too old to read`,
    );
  }
}

function checkGroups(folder: string, kept: FileContent['groups'], wanted: readonly WantedGroup[]): void {
  for (const [name, record] of Object.entries(kept)) {
    const readers = wanted.find((group) => group.name === name)?.readers;
    if (readers === undefined) {
      throw new Error(
        `groups: ${folder} has ${Object.keys(kept).length} groups, so wanted ${name} among them, got ${wanted.map((group) => group.name).join(', ')}; ` +
          'groups can be added, not taken away',
      );
    }
    if (readers + 1 < record.nodes.length) {
      throw new Error(
        `readers: ${folder} has ${record.nodes.length - 1} for ${name}, so wanted at least as many, got ${readers}; readers can be added, not taken away`,
      );
    }
  }
}
