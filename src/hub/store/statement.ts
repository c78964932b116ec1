/** A statement of the head office. `name` is also that of the plan that the server keeps for a connection. */
export type HubStatement = { readonly name: string; readonly text: string }

const every = new Map<string, HubStatement>()

/** Makes a statement. Make it at the top of a file: a test prepares each one and holds it against what Citus refuses. */
export function hubStatement(name: string, text: string): HubStatement {
  if (every.has(name)) throw new Error(`there are two statements named ${name}`)
  const made = { name, text }
  every.set(name, made)
  return made
}

/** Returns the statements that were made so far. */
export const everyStatement = (): readonly HubStatement[] => [...every.values()]

/**
 * FROM of a write with arrays. It names log_head: on Citus that keeps the write on the one worker that has the log. With `SELECT $1`
 * instead, the rows would travel over the coordinator and every feed would become a two-phase commit.
 */
export const fromHead = (columns: string) => `FROM log_head h, unnest(${columns}) AS x`
