export { type Asker, askerOn, nobodyToAsk } from './asker.ts'
export { carryOut, type SetupResult, settleSite } from './carry-out.ts'
export { namesOf } from './names.ts'
export { planSetup, type SetupFlags } from './plan.ts'
