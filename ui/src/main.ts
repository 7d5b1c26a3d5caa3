import { mount } from "svelte";

import "./tokens.css";
import "./base.css";

import App from "./App.svelte";
import { app } from "$lib/state/app.svelte";

void app.start();

const target = document.getElementById("app");
if (target) mount(App, { target });
