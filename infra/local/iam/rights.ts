import { readStatement, type Call, type Statement, type WrittenStatement } from './statement.ts';
import { messageOf } from '../message-of.ts';

/** The rights of a caller; plain data that threads can exchange. */
export interface RoleRights {
  /** The function, schedule or AWS service. */
  readonly name: string;
  /** Undefined for an AWS service, which resource policies allow. */
  readonly role?: string;
  readonly statements: readonly WrittenStatement[];
}

export type RightsByKey = Readonly<Record<string, RoleRights>>;

export type Rights = ReturnType<typeof readRights>;

/** Throws an Error that names the role, for a statement that cannot be judged. */
export function readRights(byKey: RightsByKey) {
  const callers = new Map(
    Object.entries(byKey).map(([key, rights]) => [key, { ...rights, read: statementsOf(rights) }]),
  );
  return {
    knows: (accessKeyId: string | undefined): boolean => accessKeyId !== undefined && callers.has(accessKeyId),
    /** Returns why a call is refused, in AWS's words. A key of no function is the owner's: all allowed. */
    whyRefused(accessKeyId: string | undefined, call: Call): string | undefined {
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
      throw new Error(`${role}: ${messageOf(cause)}`, { cause });
    }
  });
}

/** The caller's name in CloudTrail. */
function nameOf({ role, name }: RoleRights): string {
  return role === undefined ? name : `arn:aws:sts::000000000000:assumed-role/${role}/${name}`;
}
