import { productionPackages } from '../notices/locked-packages.ts'
import { root } from './inputs.ts'

/**
 * THIRD-PARTY-NOTICES speaks of the production dependencies, so nothing else may get in. Throws with the packages that did.
 * @param files what a bundle was made from, relative to the source tree
 */
export function refuseForeignPackages(files: readonly string[]): void {
  const allowed = new Set(productionPackages(root).map(({ path }) => path))
  const packages = new Set(files.map((file) => /^.*node_modules\/(@[^/]+\/)?[^/]+/.exec(file)?.[0] ?? ''))
  const foreign = [...packages].filter((path) => path !== '' && !allowed.has(path))
  if (foreign.length > 0) throw new Error(`bundled, but no production dependency: ${foreign.join(', ')}`)
}
