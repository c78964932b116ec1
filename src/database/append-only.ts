/**
 * Returns the triggers that make a table append-only for every program that opens the file.
 *
 * UPDATE and DELETE triggers alone do not stop INSERT OR REPLACE: its implicit delete fires no DELETE trigger unless the connection
 * has recursive_triggers=ON. So the insert guard accepts only the next id. The table has no UNIQUE constraint besides its id,
 * because REPLACE could delete through it; the guard checks uniqueness too.
 */
export function appendOnlyTriggers(table: string, id: string, unique: readonly (readonly string[])[] = []): string[] {
  const refuse = (what: string) => `SELECT RAISE(ABORT, '${table} is append-only: ${what}')`
  const duplicates = unique.map((columns) => {
    const same = columns.map((c) => `${c} = NEW.${c}`).join(' AND ')
    return `CREATE TRIGGER ${table}_unique_${columns.join('_')} BEFORE INSERT ON ${table}
WHEN EXISTS (SELECT 1 FROM ${table} WHERE ${same})
BEGIN ${refuse(`${columns.join(', ')} stands there already`)}; END`
  })
  return [
    `CREATE TRIGGER ${table}_no_update BEFORE UPDATE ON ${table} BEGIN ${refuse('no UPDATE')}; END`,
    `CREATE TRIGGER ${table}_no_delete BEFORE DELETE ON ${table} BEGIN ${refuse('no DELETE')}; END`,
    `CREATE TRIGGER ${table}_next_id BEFORE INSERT ON ${table}
WHEN NEW.${id} IS NOT (SELECT coalesce(max(${id}), 0) + 1 FROM ${table})
BEGIN ${refuse(`${id} must be the next one`)}; END`,
    ...duplicates,
  ]
}
