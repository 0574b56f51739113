/// <reference types="florin/svelte" />
export {};
