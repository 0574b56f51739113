/** Takes over in the browser what the server rendered. */
import { hydrateRoot } from 'react-dom/client';
import { Shop } from './shop';

const root = document.getElementById('root');
if (root) hydrateRoot(root, <Shop />);
