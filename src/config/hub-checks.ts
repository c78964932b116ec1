import { type CrossCheck, field, listOf, namespaceOf, tell } from './cross-checks.ts'
import { nameProblem, readName } from './names.ts'

/** Refuses a region of an account or a group that `hub.regions` has not. */
export const regionsAreKnown: CrossCheck = (config, context) => {
  const known = field(config, 'hub', 'regions')
  const isKnown = (region: unknown) =>
    typeof region !== 'string' || (typeof known === 'object' && known !== null && Object.hasOwn(known, region))
  for (const list of ['users', 'groups']) {
    for (const [i, entry] of listOf(field(config, 'auth', list)).entries()) {
      const named = [entry, ...listOf(field(entry, 'elsewhere'))].flatMap((one) => listOf(field(one, 'regions')))
      const unknown = named.find((region) => !isKnown(region))
      if (unknown !== undefined) tell(context, ['auth', list, i, 'regions'], `hub.regions has no ${unknown}`)
    }
  }
}

/** Refuses a group that no storage server of the config could name. */
export const groupsAreOfAServer: CrossCheck = (config, context) => {
  for (const [i, entry] of listOf(field(config, 'auth', 'groups')).entries()) {
    const text = field(entry, 'group')
    if (typeof text !== 'string') continue
    const problem = nameProblem({ ...readName(text), kind: 'group' }, namespaceOf(config), 'group')
    if (problem !== undefined) tell(context, ['auth', 'groups', i, 'group'], problem)
  }
}
