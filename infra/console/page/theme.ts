import { useState } from 'preact/hooks';

const THEMES = ['auto', 'light', 'dark'] as const;
type Theme = (typeof THEMES)[number];
const KEY = 'schemaless-console-theme';

export function nextTheme(theme: Theme): Theme {
  return THEMES[(THEMES.indexOf(theme) + 1) % THEMES.length] ?? 'auto';
}

/** Light or dark: as the system says, unless somebody says otherwise here. */
export function useTheme(): readonly [Theme, (theme: Theme) => void] {
  const [theme, setTheme] = useState<Theme>(() => THEMES.find((one) => one === localStorage.getItem(KEY)) ?? 'auto');
  document.documentElement.dataset['theme'] = theme;
  return [
    theme,
    (next) => {
      localStorage.setItem(KEY, next);
      setTheme(next);
    },
  ];
}
