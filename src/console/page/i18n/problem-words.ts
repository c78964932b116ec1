import type { Camera } from '../data/shapes.ts'
import { gatewayWords } from './language.ts'
import { problemTexts } from './problem-texts.ts'

/** Returns the problem of a camera; empty when there is none. For an unknown problem, these are the words of the gateway. */
export function problemWords({ problem, problemCode }: Pick<Camera, 'problem' | 'problemCode'>): string {
  if (problem === null) return ''
  const known = problemCode !== null && Object.hasOwn(problemTexts, problemCode) ? problemTexts[problemCode] : undefined
  return known ?? gatewayWords(problem)
}
