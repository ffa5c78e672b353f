/** The default theme in the colours of the client, with the fonts of the reader's system: nothing is fetched from elsewhere. */
import Theme from 'vitepress/theme-without-fonts';

import './style.css';

export default Theme;
