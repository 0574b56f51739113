/** All tests, one after the other: they share a world. */

import './orders.test.js';
import './webhooks.test.js';
import './requests.test.js';
import './types.test.js';
