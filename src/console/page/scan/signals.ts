let audio: AudioContext | undefined

/** Tells by sound and vibration whether a scan is kept (one high tone) or needs a look (two low ones). */
export function signal(isGood: boolean): void {
  navigator.vibrate?.(isGood ? 60 : [200, 100, 200])
  if (typeof AudioContext === 'undefined') return
  audio ??= new AudioContext()
  // A browser lets a page sound only after a touch; until then this waits.
  void audio.resume()
  for (const startS of isGood ? [0] : [0, 0.25]) tone(audio, isGood ? 1320 : 220, startS)
}

function tone(context: AudioContext, hertz: number, startS: number): void {
  const [oscillator, gain] = [context.createOscillator(), context.createGain()]
  const atS = context.currentTime + startS
  oscillator.frequency.value = hertz
  gain.gain.setValueAtTime(0.25, atS)
  gain.gain.exponentialRampToValueAtTime(0.001, atS + 0.18)
  oscillator.connect(gain).connect(context.destination)
  oscillator.start(atS)
  oscillator.stop(atS + 0.2)
}
