import { readStatement, type Call, type Statement, type WrittenStatement } from './statement.ts';

/** What a caller is allowed, as text that goes from thread to thread. */
export interface RoleRights {
  /** The function, the schedule or the service of AWS. */
  readonly name: string;
  /** That it runs as; undefined for a service of AWS, which others let call them by policies of theirs. */
  readonly role?: string;
  readonly statements: readonly WrittenStatement[];
}

/** Who has which rights, by access key. */
export type RightsByKey = Readonly<Record<string, RoleRights>>;

/** Judges calls by the rights of who makes them. */
export interface Rights {
  /**
   * Why a call is refused, in AWS's words; undefined where it is allowed. Whoever has an access key of no function is the
   * machine's owner, who may do everything.
   */
  whyRefused(accessKeyId: string | undefined, call: Call): string | undefined;
  /** Whether calls with this key are judged. */
  knows(accessKeyId: string | undefined): boolean;
}

/** @throws Error that names the role, for a statement that cannot be judged */
export function readRights(byKey: RightsByKey): Rights {
  const callers = new Map(
    Object.entries(byKey).map(([key, rights]) => [key, { ...rights, read: statementsOf(rights) }]),
  );
  return {
    knows: (accessKeyId) => accessKeyId !== undefined && callers.has(accessKeyId),
    whyRefused(accessKeyId, call) {
      const caller = callers.get(accessKeyId ?? '');
      if (!caller) return undefined;
      const covering = caller.read.filter((statement) => statement.covers(call));
      const isDenied = covering.some(({ isDeny }) => isDeny);
      if (covering.length > 0 && !isDenied) return undefined;
      const because = isDenied
        ? `with an explicit deny in an identity-based policy`
        : `because no ${caller.role === undefined ? 'resource' : 'identity'}-based policy allows the ${call.action} action`;
      const keys = Object.entries(call.context ?? {}).map(([key, values]) => ` with ${key} ${values.join(', ')}`);
      return `User: ${nameOf(caller)} is not authorized to perform: ${call.action} on resource: ${call.resource}${keys.join('')} ${because}`;
    },
  };
}

function statementsOf({ name, role = name, statements }: RoleRights): readonly Statement[] {
  return statements.map((statement) => {
    try {
      return readStatement(statement);
    } catch (cause) {
      throw new Error(`${role}: ${cause instanceof Error ? cause.message : String(cause)}`, { cause });
    }
  });
}

/** As it is called in CloudTrail. */
function nameOf({ role, name }: RoleRights): string {
  return role === undefined ? name : `arn:aws:sts::000000000000:assumed-role/${role}/${name}`;
}
