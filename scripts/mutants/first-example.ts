/** Loaded before a test: of a property that fails, the first example is enough; the shortest one is not looked for. */
import fc from 'fast-check'

fc.configureGlobal({ endOnFailure: true })
