import type { FieldPacket } from 'mysql2';
import { CHARACTER_BYTES, columnTypeOf, FLAG, TYPE, type ColumnType } from './column-type.ts';

/** A column of a result, as `columnMetadata` shows it. */
interface ColumnMetadata {
  readonly arrayBaseColumnType: number;
  readonly isAutoIncrement: boolean;
  readonly isCaseSensitive: boolean;
  readonly isCurrency: boolean;
  readonly isSigned: boolean;
  readonly label: string;
  readonly name: string;
  readonly nullable: number;
  readonly precision: number;
  readonly scale: number;
  readonly schemaName: string;
  readonly tableName: string;
  readonly type: number;
  readonly typeName: string;
}

export function columnMetadata(column: FieldPacket): ColumnMetadata {
  const type = columnTypeOf(column);
  const flags = Number(column.flags);
  const isNumber = type.kind === 'long' || type.kind === 'double' || type.kind === 'decimal';
  return {
    arrayBaseColumnType: 0,
    isAutoIncrement: (flags & FLAG.autoIncrement) !== 0,
    isCaseSensitive: type.kind === 'string' && isText(column) && (flags & FLAG.binary) !== 0,
    isCurrency: false,
    isSigned: (isNumber || column.columnType === TYPE.tiny) && (flags & FLAG.unsigned) === 0,
    label: column.name,
    name: column.orgName === '' ? column.name : column.orgName,
    nullable: (flags & FLAG.notNull) === 0 ? 1 : 0,
    precision: precisionOf(column, type),
    scale: type.kind === 'decimal' ? column.decimals : 0,
    // MySQL's databases are JDBC's catalogs: the schema is always empty.
    schemaName: '',
    tableName: column.orgTable,
    type: type.jdbcType,
    typeName: type.typeName,
  };
}

const TEXTS: ReadonlySet<number | undefined> = new Set([
  TYPE.string,
  TYPE.varString,
  TYPE.varchar,
  TYPE.tinyBlob,
  TYPE.blob,
  TYPE.mediumBlob,
  TYPE.longBlob,
]);

function isText({ columnType }: FieldPacket): boolean {
  return TEXTS.has(columnType);
}

/** Of integers and floating numbers the server's own width, which has room for a sign. */
function precisionOf(column: FieldPacket, { kind }: ColumnType): number {
  const { columnLength = 0, decimals } = column;
  if (kind === 'boolean') return 1;
  // The length counts the sign and the point as well.
  if (kind === 'decimal')
    return columnLength - ((Number(column.flags) & FLAG.unsigned) === 0 ? 1 : 0) - (decimals > 0 ? 1 : 0);
  return kind === 'string' && isText(column) ? Math.floor(columnLength / CHARACTER_BYTES) : columnLength;
}
