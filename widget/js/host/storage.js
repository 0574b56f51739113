/** What outlives a reload. */
const memory = {};
/** A browser's storage, or memory where it is forbidden in frames of another site. Answers whether a reload finds it. */
const remember = (key, value, storage = 'sessionStorage') => {
  memory[key] = value;
  try {
    if (value) window[storage].setItem(key, value);
    else window[storage].removeItem(key);
    return true;
  } catch {}
};
const recall = (key, storage = 'sessionStorage') => {
  try {
    return memory[key] || window[storage].getItem(key);
  } catch {}
};
