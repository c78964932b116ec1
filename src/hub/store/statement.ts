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
