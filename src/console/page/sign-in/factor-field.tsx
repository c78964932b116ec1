import { useEffect, useRef } from 'preact/hooks'
import { factorTexts as words } from './factor-texts.ts'

/** The field for a code; it takes the focus. */
export const FactorField = () => {
  const code = useRef<HTMLInputElement>(null)
  useEffect(() => code.current?.focus(), [])
  return (
    <>
      <label for="factor-code">{words.code}</label>
      <input
        id="factor-code"
        name="code"
        ref={code}
        autocomplete="one-time-code"
        autocapitalize="characters"
        spellcheck={false}
        maxlength={64}
      />
    </>
  )
}
