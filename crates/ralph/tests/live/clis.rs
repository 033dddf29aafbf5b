//! The real CLIs: for each the configuration its user would have, and what is different about it.

use crate::cli::{Cli, Limited};
use ralph_agents::{claude, codex, copilot, gemini, goose, grok, kimi, opencode, pi, qwen};

/// A key that is none.
const KEY: &str = "test-key-0123456789";
/// Too many requests; the wording says when to try again.
const TOO_MANY: Limited = Limited { scenario: "closed429", class: "rate_limited", instead: None };

pub static CLAUDE: Cli = Cli {
    info: &claude::INFO,
    configure: |setup| vec![("ANTHROPIC_BASE_URL", setup.url.clone()), ("ANTHROPIC_API_KEY", KEY.into())],
    turn: [1000, 50, 200, 100],
    price: ("reported", 5540),
    // Only subscribers have a limit with a time.
    limited: Limited {
        scenario: "closedlimit",
        class: "usage_limit",
        instead: Some(("ANTHROPIC_API_KEY", "CLAUDE_CODE_OAUTH_TOKEN")),
    },
};

pub static CODEX: Cli = Cli {
    info: &codex::INFO,
    configure: |setup| {
        let config = format!(
            "model = \"gpt-5\"\nmodel_provider = \"scripted\"\n\n[model_providers.scripted]\nname = \"Scripted\"\n\
             base_url = \"{}/v1\"\nwire_api = \"responses\"\nenv_key = \"SCRIPTED_KEY\"\n",
            setup.url
        );
        setup.write(&setup.home.join(".codex/config.toml"), &config);
        vec![("SCRIPTED_KEY", KEY.into())]
    },
    turn: [800, 50, 200, 0],
    price: ("computed", 1525),
    // Told as a time of day, without seconds.
    limited: Limited { scenario: "closedusage", class: "usage_limit", instead: None },
};

pub static OPENCODE: Cli = Cli {
    info: &opencode::INFO,
    configure: |setup| {
        let config = format!(
            r#"{{"model":"scripted/model","small_model":"scripted/model","provider":{{"scripted":{{
            "npm":"@ai-sdk/openai-compatible","options":{{"baseURL":"{}/v1","apiKey":"{{env:SCRIPTED_KEY}}"}},
            "models":{{"model":{{"limit":{{"context":128000,"output":8000}},
            "cost":{{"input":3,"output":15,"cache_read":0.3,"cache_write":3.75}}}}}}}}}}}}"#,
            setup.url
        );
        setup.write(&setup.config.join("opencode/opencode.json"), &config);
        vec![("SCRIPTED_KEY", KEY.into())]
    },
    turn: [800, 50, 200, 0],
    price: ("reported", 3210),
    limited: TOO_MANY,
};

pub static GOOSE: Cli = Cli {
    info: &goose::INFO,
    configure: |setup| {
        let config = format!(
            "GOOSE_PROVIDER: openai\nGOOSE_MODEL: gpt-4o\nOPENAI_HOST: {}\nOPENAI_BASE_PATH: v1/chat/completions\n\
             GOOSE_MODE: auto\n",
            setup.url
        );
        setup.write(&setup.config.join("goose/config.yaml"), &config);
        vec![("OPENAI_API_KEY", KEY.into()), ("GOOSE_DISABLE_KEYRING", "1".into())]
    },
    turn: [1000, 50, 0, 0],
    price: ("unpriced", 0),
    limited: TOO_MANY,
};

pub static GEMINI: Cli = Cli {
    info: &gemini::INFO,
    configure: |setup| {
        // Its own ten tries over minutes can be turned down in the user's settings only.
        let settings = r#"{"security":{"auth":{"selectedType":"gemini-api-key"}},"model":{"name":"gemini-2.5-pro"},
            "general":{"maxAttempts":1}}"#;
        setup.write(&setup.home.join(".gemini/settings.json"), settings);
        vec![("GOOGLE_GEMINI_BASE_URL", setup.url.clone()), ("GEMINI_API_KEY", KEY.into())]
    },
    turn: [800, 50, 200, 0],
    price: ("computed", 1525),
    limited: Limited { scenario: "closedquota", class: "rate_limited", instead: None },
};

pub static QWEN: Cli = Cli {
    info: &qwen::INFO,
    configure: |setup| {
        let settings = r#"{"security":{"auth":{"selectedType":"openai"}}}"#;
        setup.write(&setup.home.join(".qwen/settings.json"), settings);
        let url = format!("{}/v1", setup.url);
        vec![("OPENAI_BASE_URL", url), ("OPENAI_API_KEY", KEY.into()), ("OPENAI_MODEL", "gpt-4o".into())]
    },
    turn: [800, 50, 200, 0],
    price: ("unpriced", 0),
    limited: TOO_MANY,
};

pub static COPILOT: Cli = Cli {
    info: &copilot::INFO,
    configure: |setup| {
        vec![
            ("COPILOT_PROVIDER_BASE_URL", format!("{}/v1", setup.url)),
            ("COPILOT_PROVIDER_API_KEY", KEY.into()),
            ("COPILOT_MODEL", "gpt-4o".into()),
            ("COPILOT_OFFLINE", "true".into()),
        ]
    },
    turn: [800, 50, 200, 0],
    price: ("unpriced", 0),
    limited: TOO_MANY,
};

pub static KIMI: Cli = Cli {
    info: &kimi::INFO,
    configure: |setup| {
        let config = format!(
            "default_model = \"scripted\"\n\n[providers.scripted]\ntype = \"openai\"\nbase_url = \"{}/v1\"\n\
             api_key = \"{KEY}\"\n\n[models.scripted]\nprovider = \"scripted\"\nmodel = \"gpt-4o\"\n\
             max_context_size = 128000\n",
            setup.url
        );
        setup.write(&setup.home.join(".kimi-code/config.toml"), &config);
        Vec::new()
    },
    // It tells none.
    turn: [0; 4],
    price: ("unpriced", 0),
    limited: TOO_MANY,
};

pub static GROK: Cli = Cli {
    info: &grok::INFO,
    configure: |setup| {
        let config = format!(
            "[models]\ndefault = \"scripted\"\n\n[model.scripted]\nmodel = \"gpt-4o\"\nbase_url = \"{}/v1\"\n\
             env_key = \"SCRIPTED_KEY\"\ncontext_window = 128000\n",
            setup.url
        );
        setup.write(&setup.home.join(".grok/config.toml"), &config);
        vec![("SCRIPTED_KEY", KEY.into())]
    },
    turn: [800, 50, 200, 0],
    price: ("unpriced", 0),
    limited: TOO_MANY,
};

pub static PI: Cli = Cli {
    info: &pi::INFO,
    configure: |setup| {
        let models = format!(
            r#"{{"providers":{{"scripted":{{"baseUrl":"{}/v1","api":"openai-completions","apiKey":"SCRIPTED_KEY",
            "models":[{{"id":"model","name":"model","reasoning":false,"input":["text"],"contextWindow":128000,
            "maxTokens":8000,"cost":{{"input":3,"output":15,"cacheRead":0.3,"cacheWrite":3.75}}}}]}}}}}}"#,
            setup.url
        );
        setup.write(&setup.home.join(".pi/agent/models.json"), &models);
        let settings = r#"{"defaultProvider":"scripted","defaultModel":"model"}"#;
        setup.write(&setup.home.join(".pi/agent/settings.json"), settings);
        vec![("SCRIPTED_KEY", KEY.into())]
    },
    turn: [800, 50, 200, 0],
    price: ("reported", 3210),
    limited: TOO_MANY,
};
