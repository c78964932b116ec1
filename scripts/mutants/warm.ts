/** Loads what nearly every test loads, so that the cache of compiled modules has it. Ends as usual: only then it is written. */
import 'tap'
import '../../src/cli/run.ts'
import '../../test/support/gateway.ts'
