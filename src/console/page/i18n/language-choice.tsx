import { keysOf } from '../data/parsing.ts'
import { textOf } from '../kit/field.ts'
import { chooseLanguage, language, languages } from './language.ts'
import { languageTexts } from './language-texts.ts'

/** Chooses the language of this device. Choosing loads the page again. */
export const LanguageChoice = () => (
  <label class="language-choice">
    {languageTexts.language}
    <select
      onInput={(event: Event) => {
        chooseLanguage(keysOf(languages).find((one) => one === textOf(event)) ?? language)
        location.reload()
      }}
    >
      {keysOf(languages).map((one) => (
        <option key={one} value={one} lang={one} selected={one === language}>
          {languages[one]}
        </option>
      ))}
    </select>
  </label>
)
