import type { Camera } from './answers.ts'
import { gatewayWords } from './language.ts'
import { problemTexts } from './problem-texts.ts'

/** Says what is wrong with a camera; empty when nothing is. Of a problem that this page does not know it returns the words of the gateway. */
export function problemWords({ problem, problemCode }: Pick<Camera, 'problem' | 'problemCode'>): string {
  if (problem === null) return ''
  const known = problemCode !== null && Object.hasOwn(problemTexts, problemCode) ? problemTexts[problemCode] : undefined
  return known ?? gatewayWords(problem)
}
