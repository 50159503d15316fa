// An estimate of how hard a passphrase is to guess.

/** The passwords that guessers try first. */
const COMMON = ["password", "passwort", "123456", "qwerty", "qwertz", "letmein", "cairn", "geheim", "abc123"];

/** From 0 (very weak) to 4 (strong). */
export function strength(passphrase: string): 0 | 1 | 2 | 3 | 4 {
  const plain = passphrase.trim().toLowerCase();
  if (plain.length < 8 || COMMON.includes(plain)) {
    return 0;
  }
  const shortened = COMMON.reduce((text, word) => text.replaceAll(word, "#"), plain);
  const bits = variety(shortened) * Math.log2(alphabet(passphrase));
  if (bits < 40) return 1;
  if (bits < 60) return 2;
  if (bits < 80) return 3;
  return 4;
}

/** Weaker ones are refused: the passphrase is all that protects the keys on the service. */
export function isStrongEnough(passphrase: string): boolean {
  return strength(passphrase) >= 2;
}

/** Letters that say something new: repeats and runs such as "aaaa" or "abcd" hardly do. */
function variety(text: string): number {
  let score = 0;
  let before = Number.NaN;
  for (const letter of text) {
    const code = letter.codePointAt(0) ?? 0;
    score += Math.abs(code - before) <= 1 ? 0.25 : 1;
    before = code;
  }
  const different = new Set(text).size;
  return Math.min(score, different * 2.5);
}

function alphabet(text: string): number {
  let size = 0;
  if (/[a-z]/.test(text)) size += 20;
  if (/[A-Z]/.test(text)) size += 20;
  if (/[0-9]/.test(text)) size += 10;
  if (/[^a-zA-Z0-9]/.test(text)) size += 20;
  return Math.max(size, 10);
}
